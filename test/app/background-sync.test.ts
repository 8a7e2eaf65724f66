import { expect, test } from "bun:test";
import { Effect, Layer, Logger, Stream } from "effect";
import { TestClock } from "effect/testing";
import { backgroundSync } from "../../app/background-sync.ts";
import { IndexSync } from "../../core/use-cases/index-sync.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";
import { LedgerSignals } from "../../ports/ledger-signals.ts";

test("a bug in one sync is told and does not end those that follow", async () => {
  const lines: Array<string> = [];
  let syncs = 0;
  const background = Effect.suspend(() => {
    syncs += 1;
    return syncs === 1 ? Effect.die(new Error("a bug")) : Effect.succeed(null);
  });
  const services = Layer.mergeAll(
    Layer.mock(IndexSync, { background }),
    Layer.mock(EscrowIndex, {
      summary: Effect.succeed({ escrows: 0, merchants: 0, events: 0, mark: null }),
    }),
    Layer.mock(LedgerSignals, { changes: Stream.never }),
    Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]),
    TestClock.layer(),
  );
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.forkScoped(backgroundSync(2));
      yield* TestClock.adjust("3 seconds");
      yield* TestClock.adjust("3 seconds");
    }).pipe(Effect.scoped, Effect.provide(services)),
  );
  expect(syncs).toBeGreaterThan(1);
  expect(lines.join("\n")).toContain("a bug");
});
