import { addressToBytes } from "../../domain/address.ts";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { DigestedEscrow } from "../../domain/index/indexed-escrow.ts";
import {
  eventsOf,
  type EventReference,
  type IndexedEvent,
} from "../../domain/index/settlement-event.ts";
import { leafHash } from "../tree/tree-hash.ts";
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
