import { type Static, Type } from "@sinclair/typebox";
import {
  Address,
  Count,
  EscrowState,
  EventKind,
  Hash,
  nullable,
  record,
  Signature,
  Slot,
  Stroops,
  Time,
  Usdc,
} from "../openapi/values.ts";

/** One settlement event, as the index keeps it. */
export const SettlementEvent = record("SettlementEvent", "One settlement event.", {
  id: Type.String({ description: "`<escrow_pda>:<kind>`: the same event always has the same id." }),
  kind: EventKind,
  escrow_pda: Address("The escrow it happened to."),
  agent_owner: Address("The agent's wallet."),
  merchant: Address("The merchant's wallet."),
  mint: Address("The token's mint."),
  state: EscrowState,
  amount_stroops: Stroops("Base units that moved."),
  amount_usdc: Usdc("The same with six decimals."),
  proof_hash: nullable(Hash("The delivery proof, of a release.")),
  signature: nullable(Signature("The transaction."), {
    description: "Null until the ledger's history has been read.",
  }),
  slot: nullable(Slot("The transaction's slot."), {
    description: "Null until the ledger's history has been read.",
  }),
  occurred_at: Time("By the ledger's clock."),
  position: Count("Place in this index's order of events, from 1."),
  chain_hash: Hash("Links the event to all before it: a changed or missing one shows."),
});
export type SettlementEventRecord = Static<typeof SettlementEvent>;
