import { expect, test } from "bun:test";
import { Effect } from "effect";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import fc from "fast-check";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { projectAt, projectUnseenAt } from "../../../../core/log/leaf/escrow-rows.ts";
import { HeldEvents } from "../../../../core/use-cases/index/sync/events/held-events.ts";
import {
  changesTo,
  escrowLives,
  eventCount,
  markAt,
  rowsAt,
  unseenOf,
} from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { withIndexOf } from "../../../contracts/fresh-index.ts";
import { rootOf } from "../../../../core/log/tree/frontier.ts";

/** Lives, a range of their events, a step, and the escrows of which only tombstones are seen. */
const aRange = escrowLives(8, 1).chain((lives) => {
  const count = eventCount(lives);
  return fc.record({
    lives: fc.constant(lives),
    from: fc.bigInt({ min: 0n, max: count }),
    step: fc.bigInt({ min: 1n, max: 5n }),
    hidden: fc.shuffledSubarray(rowsAt(lives, count).map(({ escrow }) => escrow.createdSeq)),
  });
});

test("rows that are newer than a range bring an index to each of its marks, step by step", () =>
  fc.assert(
    fc.asyncProperty(aRange, async ({ lives, from, step, hidden }) => {
      const last = eventCount(lives);
      const unseen = new Set(hidden);
      const held = new HeldEvents(from, last);
      for (const row of rowsAt(lives, last).toReversed())
        if (unseen.has(row.escrow.createdSeq)) held.addUnseen(unseenOf(row));
        else held.add(row);
      expect(held.isComplete).toBe(true);
      const before = markAt(lives, from);
      expect(held.tree(before).root).toBe(rootOf(markAt(lives, last)));
      await Effect.runPromise(
        withIndexOf(indexMemory(), ({ reader, writer }) =>
          Effect.gen(function* () {
            yield* writer.apply(changesTo(lives, null, from));
            let at = from;
            for (const mark of held.eventsEvery(step, before)) {
              const changes = held.changes(at, mark.count);
              yield* writer.apply({
                ...changes,
                from: at,
                merchants: [],
                mark: markAt(lives, mark.count),
              });
              expect(rootOf(mark)).toBe(rootOf(markAt(lives, mark.count)));
              const shown = (yield* reader.escrows({}, 100, null)).toReversed();
              const gone = yield* writer.unseen(100, 0n);
              const rows = rowsAt(lives, mark.count);
              const isGone = new Set(gone.map(({ createdSeq }) => createdSeq));
              expect(shown).toEqual(
                rows
                  .map(({ escrow }) => escrow)
                  .filter(({ createdSeq }) => !isGone.has(createdSeq)),
              );
              expect(gone).toEqual(
                rows.filter(({ escrow }) => isGone.has(escrow.createdSeq)).map(unseenOf),
              );
              at = mark.count;
            }
            expect(at).toBe(last);
          }),
        ),
      );
    }),
    runs(60),
  ));

test("an escrow that could not be decoded takes the place of none that is held, and fills one that lacks", () => {
  const [[life] = []] = fc.sample(escrowLives(1, 1), { numRuns: 1, seed: 2 });
  if (life === undefined) throw new Error("no sample");
  const [row] = rowsAt([life], 1n);
  if (row === undefined) throw new Error("no row");
  const held = new HeldEvents(0n, 1n);
  held.add(row);
  held.addUnreadable({ ...unseenOf(row), pendingHash: new Uint8Array(32) });
  expect(held.contradicted).toBeNull();
  const lacking = new HeldEvents(0n, 1n);
  lacking.addUnreadable(unseenOf(row));
  expect(lacking.isComplete).toBe(true);
});

test("an event has the first transaction that is told of it, and one that is not held has none", () => {
  const [[life] = []] = fc.sample(escrowLives(1, 1), { numRuns: 1, seed: 2 });
  if (life === undefined) throw new Error("no sample");
  const [row] = rowsAt([life], 1n);
  if (row === undefined) throw new Error("no row");
  const held = new HeldEvents(0n, 1n);
  held.add(row);
  const told = { escrow: row.address, kind: "escrow_created", slot: 7n } as const;
  const [first, second] = ["1".repeat(64), "2".repeat(64)].map((text) => text as LedgerSignature);
  if (first === undefined || second === undefined) throw new Error("two signatures");
  held.refer({ ...told, signature: first });
  held.refer({ ...told, signature: second });
  expect(held.changes(0n, 1n).transactions).toEqual([
    { position: row.createdSeq, signature: first, slot: 7n },
  ]);
});

test("a number with two leaves is noted, and a row outside the range is not kept", () => {
  const [[one, other] = []] = fc.sample(escrowLives(2, 2), { numRuns: 1, seed: 2 });
  if (one === undefined || other === undefined) throw new Error("no sample");
  const rows = [one, other].flatMap(([pending]) => rowsAt([[{ ...pending, createdSeq: 1n }]], 1n));
  const held = new HeldEvents(0n, 1n);
  for (const row of rows) held.add(row);
  expect(held.contradicted).toBe(1n);
  const later = new HeldEvents(1n, 2n);
  for (const row of rows) later.add(row);
  expect(later.changes(1n, 2n)).toEqual({ escrows: [], unseen: [], transactions: [] });
  expect(later.tree({ ...markAt([], 0n), count: 1n }).missingTo(2n)).toBe(1n);
});

test("an earlier state of an escrow, seen or not, does not replace its settlement, whichever comes first", () =>
  fc.assert(
    fc.property(
      escrowLives(4, 1).chain((lives) => {
        const rows = rowsAt(lives, eventCount(lives));
        return fc.record({
          lives: fc.constant(lives),
          hidden: fc.shuffledSubarray(rows.map(({ createdSeq }) => createdSeq)),
          order: fc.shuffledSubarray(
            rows.flatMap(({ createdSeq }) =>
              ["now", "earlier", "unseen earlier"].map((state) => ({ createdSeq, state })),
            ),
            { minLength: rows.length * 3 },
          ),
        });
      }),
      ({ lives, hidden, order }) => {
        const count = eventCount(lives);
        const rows = new Map(rowsAt(lives, count).map((row) => [row.createdSeq, row]));
        const isHidden = new Set(hidden);
        const held = new HeldEvents(0n, count);
        for (const { createdSeq, state } of order) {
          const row = rows.get(createdSeq);
          if (row === undefined) throw new Error("a row of each number");
          const before = row.settledSeq === null ? null : row.settledSeq - 1n;
          if (state === "now" && isHidden.has(createdSeq)) held.addUnseen(unseenOf(row));
          else if (state === "now") held.add(row);
          else if (before !== null) {
            const [seen, unseen] = [projectAt(row, before), projectUnseenAt(unseenOf(row), before)];
            if (state === "earlier" && seen !== null) held.add(seen);
            if (state === "unseen earlier" && unseen !== null) held.addUnseen(unseen);
          }
        }
        expect(held.contradicted).toBeNull();
        expect(held.tree(markAt(lives, 0n)).root).toBe(rootOf(markAt(lives, count)));
        const { escrows, unseen } = held.changes(0n, count);
        const all = [...rows.values()];
        expect(escrows.map(({ escrow }) => escrow)).toEqual(
          all.filter(({ createdSeq }) => !isHidden.has(createdSeq)).map(({ escrow }) => escrow),
        );
        expect(unseen).toEqual(
          all.filter(({ createdSeq }) => isHidden.has(createdSeq)).map(unseenOf),
        );
      },
    ),
    runs(200),
  ));
