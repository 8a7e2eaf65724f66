import { type Static, Type } from "@sinclair/typebox";
import type { ArchivedEscrow } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { EscrowState, Hash, record } from "../openapi/values.ts";

const Sequence = (description: string) =>
  Type.String({ description, pattern: "^[1-9][0-9]{0,19}$", examples: ["42"] });

/** What the ledger keeps of an archived escrow. */
export const Tombstone = record("Tombstone", "What the ledger keeps of an archived escrow.", {
  state: EscrowState,
  created_seq: Sequence("The number of its creation among all events of the custody program."),
  settled_seq: Sequence("The number of its settlement."),
  digest: Hash("SHA-256 of the account's last 368 bytes."),
  pending_digest: Hash("SHA-256 of the account's bytes while it was Pending."),
});

/** A tombstone as JSON. */
export const tombstoneRecord = (tombstone: ArchivedEscrow): Static<typeof Tombstone> => ({
  state: tombstone.state,
  created_seq: tombstone.createdSeq.toString(),
  settled_seq: tombstone.settledSeq.toString(),
  digest: tombstone.lastHash,
  pending_digest: tombstone.pendingHash,
});
