import { addressToBytes } from "../../domain/address.ts";
import type { EscrowState } from "../../domain/escrow/escrow.ts";
import type {
  AccountDigests,
  DigestedEscrow,
  UnseenEscrow,
} from "../../domain/index/indexed-escrow.ts";
import type { Address } from "../../domain/address.ts";
import type { NumberedLeaf } from "./escrow-leaves.ts";
import { eventLeafOf } from "./event-leaf.ts";

const leavesOf = (
  address: Address,
  state: EscrowState,
  createdSeq: bigint,
  settledSeq: bigint | null,
  { pendingHash, settledHash }: AccountDigests,
): ReadonlyArray<NumberedLeaf> => {
  const escrow = addressToBytes(address);
  const created = { seq: createdSeq, leaf: eventLeafOf("Pending", escrow, pendingHash) };
  if (settledSeq === null || settledHash === null) return [created];
  return [created, { seq: settledSeq, leaf: eventLeafOf(state, escrow, settledHash) }];
};

/** The leaves of an indexed escrow's events: that of the creation and, once settled, that of the settlement. */
export const leavesOfIndexed = (row: DigestedEscrow): ReadonlyArray<NumberedLeaf> => {
  const { address, state, createdSeq, settledSeq } = row.escrow;
  return leavesOf(address, state, createdSeq, settledSeq, row);
};

/** The leaves of an unseen escrow's events, as of an indexed one's. */
export const leavesOfUnseen = (row: UnseenEscrow): ReadonlyArray<NumberedLeaf> =>
  leavesOf(row.address, row.state, row.createdSeq, row.settledSeq, row);
