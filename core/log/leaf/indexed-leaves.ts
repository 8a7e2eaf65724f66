import { type Address, addressToBytes } from "../../domain/address.ts";
import type { EscrowState } from "../../domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type {
  AccountDigests,
  DigestedEscrow,
  UnseenEscrow,
} from "../../domain/index/indexed-escrow.ts";
import {
  type EventReference,
  eventsOf,
  type IndexedEvent,
} from "../../domain/index/settlement-event.ts";
import { leafHash } from "../tree/tree-hash.ts";
import type { NumberedLeaf } from "./escrow-leaves.ts";
import { eventLeafOf } from "./event-leaf.ts";

type Transaction = Pick<EventReference, "signature" | "slot">;

/** The event of an indexed escrow that has the number `seq`. @throws Error for a number that is none of its events. */
export const indexedEventAt = (
  { escrow, pendingHash, settledHash }: DigestedEscrow,
  seq: bigint,
  transaction: Transaction | undefined,
): IndexedEvent => {
  const isCreation = seq === escrow.createdSeq;
  const event = eventsOf(escrow)[isCreation ? 0 : 1];
  const accountHash = isCreation ? pendingHash : settledHash;
  if (event === undefined || accountHash === null) throw new Error("a row holds its events");
  const leaf = eventLeafOf(event.state, addressToBytes(event.escrow), accountHash);
  return {
    event,
    position: seq,
    leafHash: hash32FromBytes(leafHash(leaf)),
    signature: transaction?.signature ?? null,
    slot: transaction?.slot ?? null,
  };
};

/** The events of an indexed escrow, oldest first, each with its transaction where `transactionOf` knows one. */
export const indexedEventsOf = (
  row: DigestedEscrow,
  transactionOf: (position: bigint) => Transaction | undefined,
): ReadonlyArray<IndexedEvent> => {
  const { createdSeq, settledSeq } = row.escrow;
  return (settledSeq === null ? [createdSeq] : [createdSeq, settledSeq]).map((seq) =>
    indexedEventAt(row, seq, transactionOf(seq)),
  );
};

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
