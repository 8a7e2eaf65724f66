import { type Static, Type } from "@sinclair/typebox";
import { eventsOf, type IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { listedMint, type SupportedMint, usdcOf } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { chainedEventHash, eventChainStart } from "../../../core/domain/index/event-chain.ts";
import {
  Address,
  Count,
  EscrowState,
  EventKind,
  Hash,
  MintSupported,
  MintSymbol,
  nullable,
  record,
  Signature,
  Slot,
  Stroops,
  Time,
  UsdcOrNull,
} from "../openapi/values.ts";
import { sampleInstance } from "../openapi/sample-instance.ts";
import { SAMPLE, sampleEscrow } from "../openapi/sample-values.ts";

/** One settlement event, as the index keeps it. */
export const SettlementEvent = record("SettlementEvent", "One settlement event.", {
  id: Type.String({ description: "`<escrow_pda>:<kind>`: the same event always has the same id." }),
  kind: EventKind,
  escrow_pda: Address("The escrow it happened to."),
  agent_owner: Address("The agent's wallet."),
  merchant: Address("The merchant's wallet."),
  mint: Address("The token's mint."),
  mint_supported: MintSupported,
  symbol: MintSymbol,
  state: EscrowState,
  amount_stroops: Stroops("Base units that moved."),
  amount_usdc: UsdcOrNull("What moved, in USDC."),
  proof_hash: nullable(Hash("The delivery proof, of a release.")),
  signature: nullable(Signature("The transaction."), {
    description: "Null until the ledger's history has been read.",
  }),
  slot: nullable(Slot("The transaction's slot."), {
    description: "Null until the ledger's history has been read.",
  }),
  occurred_at: Time("By the ledger's clock."),
  position: Count("Place in this index's order of events, from 1."),
  chain_hash: Hash(
    "Links the event to all events before it, so that a changed or missing event is detected.",
  ),
});
export type SettlementEventRecord = Static<typeof SettlementEvent>;

/** An indexed event as JSON, with the mint's decimals and symbol from the instance's list. */
export const eventRecord = (
  indexed: IndexedEvent,
  supportedMints: ReadonlyArray<SupportedMint>,
): SettlementEventRecord => {
  const { event } = indexed;
  const listed = listedMint(supportedMints, event.mint);
  return {
    id: event.id,
    kind: event.kind,
    escrow_pda: event.escrow,
    agent_owner: event.agentOwner,
    merchant: event.merchant,
    mint: event.mint,
    mint_supported: listed !== undefined,
    symbol: listed?.symbol ?? null,
    state: event.state,
    amount_stroops: event.amount.toString(),
    amount_usdc: usdcOf(event.amount, listed),
    proof_hash: event.proofHash,
    signature: indexed.signature,
    slot: indexed.slot === null ? null : Number(indexed.slot),
    occurred_at: formatUnixTime(event.occurredAt),
    position: Number(indexed.position),
    chain_hash: indexed.chainHash,
  };
};

/** The example event: the last one of the sample escrow. */
export const eventExample = () => {
  const events = eventsOf(sampleEscrow());
  const start = eventChainStart(SAMPLE.genesisHash, SAMPLE.deployment);
  const chain = events.reduce(
    ({ previous }, event) => ({ event, previous: chainedEventHash(previous, event) }),
    { event: events[0], previous: start },
  );
  if (chain.event === undefined) throw new Error("a settled escrow has events");
  const indexed = {
    event: chain.event,
    position: BigInt(events.length),
    chainHash: chain.previous,
    signature: null,
    slot: null,
  };
  return eventRecord(indexed, sampleInstance().supportedMints);
};
