import { type Static, Type } from "@sinclair/typebox";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { listedMint, type SupportedMint, usdcOf } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import { indexedEventsOf } from "../../../core/log/leaf/indexed-leaves.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { indexedEscrowOf } from "../../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import {
  Address,
  Count,
  EscrowState,
  EventKind,
  Hash,
  MintSupported,
  MintSymbol,
  nullable,
  oneOf,
  record,
  Signature,
  Slot,
  Stroops,
  Time,
  UsdcOrNull,
} from "../openapi/values.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow } from "../openapi/sample-values.ts";

const MEMBERS = {
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
  position: Count("The number that the custody program gave the event, from 1."),
  leaf_hash: Hash("The hash of the event's leaf in the settlement log, at the index `position`."),
};

/** One settlement event, as the index keeps it. */
export const SettlementEvent = record("SettlementEvent", "One settlement event.", MEMBERS);

/** One settlement event in the stream. */
export const StreamedSettlementEvent = record(
  "StreamedSettlementEvent",
  "One settlement event in the stream.",
  {
    ...MEMBERS,
    finality: Type.Optional(
      oneOf(
        ["confirmed", "final", "retracted"],
        "With `commitment=confirmed` only. `confirmed`: a supermajority has voted for it, and a fork may still undo it. `final`: the index has it. `retracted`: it did not happen; another event may have its `position`.",
      ),
    ),
  },
);
/** An event of an escrow as JSON. */
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
    leaf_hash: indexed.leafHash,
  };
};

/** The example event: the last one of the sample escrow. */
export const eventExample = () => {
  const escrow = sampleEscrow();
  const row = indexedEscrowOf(escrow, encodeEscrowAccount(escrow));
  const last = indexedEventsOf(row, () => undefined).at(-1);
  if (last === undefined) throw new Error("a settled escrow has events");
  return eventRecord(last, sampleInstance().supportedMints);
};

/** The id of the sample ledger's log. */
export const sampleLogId = (): string =>
  networkIdOf(networkLeaf(SAMPLE.genesisHash, SAMPLE.deployment.custodyProgram));
