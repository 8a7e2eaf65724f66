import { expect, test } from "bun:test";
import { Clock, Effect, Layer } from "effect";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { isRefundable } from "../../../../core/domain/escrow/escrow.ts";
import {
  IndexClock,
  makeIndexClock,
  queryEscrows,
} from "../../../../core/use-cases/index/index-query.ts";
import { makeRecentPages, RecentPages } from "../../../../core/use-cases/index/recent-pages.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { escrow, EXPIRES_AT } from "../../../adapters/http/support/parties.ts";
import { changesOf, indexedOf, markAt } from "../../../arbitraries/index-history.ts";

const HOUR_MS = 3_600_000;

test("a wall clock that is wrong or set makes no escrow refundable, and monotonic time does", () => {
  let wallMs = Number(EXPIRES_AT) * 1000;
  let monotonicMs = 0;
  const clock = Effect.map(Clock.Clock, (machine): Clock.Clock => ({
    sleep: (duration) => machine.sleep(duration),
    currentTimeMillisUnsafe: () => wallMs,
    currentTimeMillis: Effect.sync(() => wallMs),
    currentTimeNanosUnsafe: () => BigInt(wallMs) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(wallMs) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => BigInt(monotonicMs) * 1_000_000n,
    monotonicTimeNanos: Effect.sync(() => BigInt(monotonicMs) * 1_000_000n),
  }));
  const refundable = Effect.gen(function* () {
    const page = yield* queryEscrows({}, 50, null);
    const due = yield* queryEscrows({ refundable: true }, 50, null);
    return [
      page.rows.filter((row) => page.ledgerTime !== null && isRefundable(row, page.ledgerTime))
        .length,
      due.rows.length,
    ];
  });
  return Effect.gen(function* () {
    // The ledger's clock is ten seconds before the expiry; the service's own is an hour ahead of it.
    const mark = { ...markAt([], 0n), ledgerTime: EXPIRES_AT - 10n, atMs: wallMs - HOUR_MS };
    const escrows = [indexedOf({ ...escrow("due soon"), createdSeq: 1n })];
    yield* IndexWriter.use((index) => index.apply(changesOf({ escrows, mark })));
    expect(yield* refundable).toEqual([0, 0]);
    wallMs += HOUR_MS;
    expect(yield* refundable).toEqual([0, 0]);
    monotonicMs += 9_999;
    expect(yield* refundable).toEqual([0, 0]);
    wallMs -= 2 * HOUR_MS;
    monotonicMs += 1;
    expect(yield* refundable).toEqual([1, 1]);
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.effect(RecentPages, makeRecentPages),
        Layer.effect(IndexClock, makeIndexClock),
        indexMemory(),
        Layer.effect(Clock.Clock, clock),
      ),
    ),
    Effect.runPromise,
  );
});
