import { formatUsdc } from "../../../core/domain/amount.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import type { SettlementEventRecord } from "../schemas/event.ts";

/** An indexed event as JSON. */
export const eventRecord = (indexed: IndexedEvent): SettlementEventRecord => {
  const { event } = indexed;
  return {
    id: event.id,
    kind: event.kind,
    escrow_pda: event.escrow,
    agent_owner: event.agentOwner,
    merchant: event.merchant,
    mint: event.mint,
    state: event.state,
    amount_stroops: event.amount.toString(),
    amount_usdc: formatUsdc(event.amount),
    proof_hash: event.proofHash,
    signature: indexed.signature,
    slot: indexed.slot === null ? null : Number(indexed.slot),
    occurred_at: formatUnixTime(event.occurredAt),
    position: Number(indexed.position),
    chain_hash: indexed.chainHash,
  };
};
