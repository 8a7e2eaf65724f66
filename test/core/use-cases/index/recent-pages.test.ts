import { expect, test } from "bun:test";
import { Effect, Layer, ManagedRuntime } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import {
  IndexClock,
  makeIndexClock,
  queryEscrows,
} from "../../../../core/use-cases/index/index-query.ts";
import { makeRecentPages, RecentPages } from "../../../../core/use-cases/index/recent-pages.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import {
  anAgent,
  aMerchantWallet,
  changesOf,
  indexedOf,
  indexHistory,
  markAt,
} from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { CREATED_AT, escrow, EXPIRES_AT } from "../../../adapters/http/support/parties.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const makeRuntime = () =>
  ManagedRuntime.make(
    Layer.mergeAll(
      Layer.effect(RecentPages, makeRecentPages),
      Layer.effect(IndexClock, makeIndexClock),
      indexMemory(),
      patientClock(),
    ),
  );

/** The same query without kept pages. */
const anew = Effect.provideServiceEffect(RecentPages, makeRecentPages);

const newest = queryEscrows({}, 50, null);

const holding = async (ledgerTime: bigint, rows: ReadonlyArray<ReturnType<typeof escrow>>) => {
  const runtime = makeRuntime();
  const escrows = rows.map((row, at) => indexedOf({ ...row, createdSeq: BigInt(at + 1) }));
  const mark = { ...markAt([], 0n), ledgerTime, atMs: 0 };
  await runtime.runPromise(IndexWriter.use((index) => index.apply(changesOf({ escrows, mark }))));
  // The process sees the mark now.
  await runtime.runPromise(newest);
  return runtime;
};

test("a page is the same as without keeping pages, whatever is written and however the clock moves", async () => {
  const query = fc.record({
    merchant: fc.option(aMerchantWallet, { nil: undefined }),
    agentOwner: fc.option(anAgent, { nil: undefined }),
    state: fc.constantFrom(undefined, undefined, "Pending" as const, "Fulfilled" as const),
    refundable: fc.constantFrom(undefined, undefined, true as const),
  });
  const step = fc.record({
    query,
    limit: fc.constantFrom(1, 2, 50, 500),
    // Times around the expiry of a history's escrows, also backwards.
    atMs: fc.nat({ max: 10_000 }).map((seconds) => seconds * 1000),
  });
  const history = indexHistory.chain(({ changes }) =>
    fc.tuple(...changes.map((change) => fc.tuple(fc.constant(change), fc.array(step)))),
  );
  await fc.assert(
    fc.asyncProperty(history, async (turns) => {
      const runtime = makeRuntime();
      const program = Effect.gen(function* () {
        const index = yield* IndexWriter;
        for (const [change, steps] of turns) {
          yield* index.apply({
            ...change,
            mark: change.mark && { ...change.mark, atMs: 0 },
          });
          for (const { query: asked, limit, atMs } of steps) {
            yield* TestClock.setTime(atMs);
            // The second call keeps the page, the third one returns it.
            yield* queryEscrows(asked, limit, null);
            yield* queryEscrows(asked, limit, null);
            const first = yield* queryEscrows(asked, limit, null);
            const second = yield* queryEscrows(asked, limit, first.next);
            const expected = yield* anew(queryEscrows(asked, limit, null));
            // The page without its clock, which may stand where it did when the page was read.
            const said = ({ rows, next, mark, unseen, ledgerTime }: typeof first) => ({
              rows,
              next,
              mark,
              unseen,
              refundable: rows.map(
                (row) => row.state === "Pending" && row.expiresAt <= (ledgerTime ?? 0n),
              ),
            });
            expect(said(first)).toEqual(said(expected));
            expect(said(second)).toEqual(
              said(yield* anew(queryEscrows(asked, limit, expected.next))),
            );
          }
        }
      });
      await runtime.runPromise(program);
      await runtime.dispose();
    }),
    runs(60),
  );
});

test("a page asked for twice is the same object until something is written", async () => {
  const runtime = await holding(CREATED_AT, [escrow("one"), escrow("two", "Fulfilled")]);
  await runtime.runPromise(newest);
  const first = await runtime.runPromise(newest);
  await runtime.runPromise(TestClock.adjust(5000));
  expect(await runtime.runPromise(newest)).toBe(first);
  const three = indexedOf({ ...escrow("three"), createdSeq: 3n });
  await runtime.runPromise(
    IndexWriter.use((index) => index.apply(changesOf({ from: 0n, escrows: [three] }))),
  );
  expect((await runtime.runPromise(newest)).rows).toHaveLength(3);
});

test("a page is read again in the second in which one of its escrows expires", async () => {
  const runtime = await holding(EXPIRES_AT - 2n, [escrow("one"), escrow("two", "Fulfilled")]);
  await runtime.runPromise(newest);
  const first = await runtime.runPromise(newest);
  await runtime.runPromise(TestClock.adjust(1999));
  expect(await runtime.runPromise(newest)).toBe(first);
  await runtime.runPromise(TestClock.adjust(1));
  const second = await runtime.runPromise(newest);
  expect(second.ledgerTime).toBe(EXPIRES_AT);
  // The wall clock decides nothing, so setting it back changes nothing.
  await runtime.runPromise(TestClock.setTime(1000));
  expect((await runtime.runPromise(newest)).ledgerTime).toBe(EXPIRES_AT);
});

test("every page is read when the store has no revision", async () => {
  const runtime = await holding(CREATED_AT, [escrow("one")]);
  const untold = Effect.updateService(IndexReader, (index) => ({
    ...index,
    summary: Effect.map(index.summary, (summary) => ({ ...summary, revision: null })),
  }));
  await runtime.runPromise(untold(newest));
  const first = await runtime.runPromise(untold(newest));
  const second = await runtime.runPromise(untold(newest));
  expect(second).not.toBe(first);
  expect(second).toEqual(first);
});
