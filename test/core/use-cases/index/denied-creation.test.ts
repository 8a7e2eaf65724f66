import { expect, test } from "bun:test";
import { Effect } from "effect";
import { indexReaderOf } from "../../../../adapters/memory/index-queries.ts";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../core/domain/index/indexed-escrow.ts";
import { indexedEscrowOf } from "../../../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { deniedCreation } from "../../../../core/use-cases/index/sync/events/prove-events.ts";
import { HeldEvents } from "../../../../core/use-cases/index/sync/events/held-events.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { pendingOf, refundedOf, worldEscrow } from "../../../simulation/world-escrow.ts";

const ESCROWS = 2500;
const COUNT = BigInt(ESCROWS);
const rowOf = (escrow: ReturnType<typeof worldEscrow>): IndexedEscrow =>
  indexedEscrowOf(escrow, encodeEscrowAccount(escrow));
const pending = Array.from({ length: ESCROWS }, (_, number) => ({
  ...pendingOf(worldEscrow(number)),
  createdSeq: BigInt(number + 1),
}));
const tombstones = pending.map((escrow): UnseenEscrow => {
  const row = rowOf({ ...refundedOf(escrow), settledSeq: COUNT + escrow.createdSeq });
  const { address, state, createdSeq, settledSeq, pendingHash, settledHash } = row;
  return { address, state, createdSeq, settledSeq, pendingHash, settledHash };
});

/** The number that is denied of tombstones beside an index of every creation, and how often the index was read. */
const deniedOf = async (shown: ReadonlyArray<UnseenEscrow>) => {
  const rows = new IndexRows();
  // The first creation is one whose bytes nobody has shown.
  const [first, ...others] = pending.map(rowOf);
  if (first === undefined) throw new Error("no escrow");
  rows.put({ escrows: others, unseen: [first], merchants: [] });
  const frontier = new Uint8Array(1280);
  rows.mark = { count: COUNT, frontier, slot: 1n, ledgerTime: 0n, atMs: 0 };
  const reader = indexReaderOf(rows);
  let reads = 0;
  const counted = {
    ...reader,
    escrowsAt: (...of: Parameters<typeof reader.escrowsAt>) =>
      Effect.suspend(() => {
        reads += 1;
        return reader.escrowsAt(...of);
      }),
  };
  const held = new HeldEvents(COUNT, 2n * COUNT);
  for (const row of shown) held.addUnseen(row);
  const denied = await Effect.runPromise(
    Effect.provideService(deniedCreation(held), IndexReader, counted),
  );
  return { denied, reads };
};

test("many tombstones cost one read of the store for a thousand", async () => {
  expect(await deniedOf(tombstones)).toEqual({ denied: null, reads: 3 });
});

test("the first number that a tombstone denies is told, whatever batch it is in", async () => {
  const forged = (at: number, change: Partial<UnseenEscrow>) =>
    tombstones.map((row, number) => (number === at ? { ...row, ...change } : row));
  const pendingHash = new Uint8Array(32);
  expect(await deniedOf(forged(0, { pendingHash }))).toEqual({ denied: 1n, reads: 1 });
  expect(await deniedOf(forged(1999, { pendingHash }))).toEqual({ denied: 2000n, reads: 2 });
  // The number of another escrow's creation, whose own tombstone is not shown.
  const [moved] = tombstones.slice(-1);
  const other = moved && [...tombstones.slice(0, 5), { ...moved, createdSeq: 7n }];
  expect(await deniedOf(other ?? [])).toEqual({ denied: 7n, reads: 1 });
});
