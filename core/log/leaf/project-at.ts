import type { IndexedEscrow, UnseenEscrow } from "../../domain/index/indexed-escrow.ts";
import { pendingEscrowBytes } from "../../protocol/accounts/escrow-account.ts";
import { AccountRow } from "./escrow-rows.ts";

/**
 * An escrow as it was after the event numbered `count`, null when it was not created yet. Its row must show every event
 * up to `count`: a settlement undone gives back the Pending escrow exactly (docs/log.md, "Leaves").
 */
export const projectAt = (row: IndexedEscrow, count: bigint): IndexedEscrow | null => {
  const { address, createdSeq, settledSeq, account, pendingHash } = row;
  if (createdSeq > count) return null;
  if (settledSeq === null || settledSeq <= count) return row;
  return new AccountRow(
    { address, state: "Pending", createdSeq, settledSeq: null },
    pendingEscrowBytes(account),
    { pendingHash, settledHash: null },
  );
};

/** As `projectAt`, of an unseen escrow. */
export const projectUnseenAt = (row: UnseenEscrow, count: bigint): UnseenEscrow | null => {
  if (row.createdSeq > count) return null;
  if (row.settledSeq === null || row.settledSeq <= count) return row;
  return { ...row, state: "Pending", settledSeq: null, settledHash: null };
};
