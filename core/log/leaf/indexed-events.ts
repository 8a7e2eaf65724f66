import { hash32FromBytes } from "../../domain/hash32.ts";
import type { DigestedEscrow } from "../../domain/index/indexed-escrow.ts";
import {
  eventsOf,
  type EventReference,
  type IndexedEvent,
} from "../../domain/index/settlement-event.ts";
import { leafHash } from "../tree/tree-hash.ts";
import { leavesOfIndexed } from "./indexed-leaves.ts";

/** The events of an indexed escrow, oldest first, each with its transaction where `transactionOf` knows one. */
export const indexedEventsOf = (
  row: DigestedEscrow,
  transactionOf: (position: bigint) => Pick<EventReference, "signature" | "slot"> | undefined,
): ReadonlyArray<IndexedEvent> => {
  const leaves = leavesOfIndexed(row);
  return eventsOf(row.escrow).flatMap((event, at) => {
    const numbered = leaves[at];
    if (numbered === undefined) return [];
    const known = transactionOf(numbered.seq);
    return [
      {
        event,
        position: numbered.seq,
        leafHash: hash32FromBytes(leafHash(numbered.leaf)),
        signature: known?.signature ?? null,
        slot: known?.slot ?? null,
      },
    ];
  });
};
