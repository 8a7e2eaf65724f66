import { expect, test } from "bun:test";
import { Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { backgroundSync } from "../../../app/syncing/syncing-side.ts";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { LedgerSignals } from "../../../ports/ledger/ledger-signals.ts";
import { NO_SIGNALS } from "../../doubles/no-signals.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

/** The log lines after a few background syncs that end like this. */
const linesAfter = async (background: IndexSync["Service"]["background"]) => {
  const lines: Array<string> = [];
  const services = Layer.mergeAll(
    Layer.mock(IndexSync, { background, listening: () => Effect.void }),
    Layer.mock(IndexReader, {
      summary: Effect.succeed({
        escrows: 0,
        unseen: 0,
        merchants: 0,
        mark: null,
        snapshotAtMs: null,
        revision: null,
      }),
    }),
    Layer.succeed(LedgerSignals, NO_SIGNALS),
    Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]),
    patientClock(),
  );
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.forkScoped(backgroundSync(2));
      yield* TestClock.adjust("3 seconds");
      yield* TestClock.adjust("3 seconds");
    }).pipe(Effect.scoped, Effect.provide(services)),
  );
  return lines;
};

test("a bug in one sync is logged and does not end the later syncs", async () => {
  let syncs = 0;
  const lines = await linesAfter(
    Effect.suspend(() => {
      syncs += 1;
      return syncs === 1 ? Effect.die(new Error("a bug")) : Effect.succeed(null);
    }),
  );
  expect(syncs).toBeGreaterThan(1);
  expect(lines.join("\n")).toContain("a bug");
});

const unavailable = (cause: unknown) => new LedgerUnavailable({ retryable: true, cause });
test.each([
  ["node.example: oversize", unavailable(new Error("node.example: oversize"))],
  ["a scan left out x", unavailable("a scan left out x")],
  ["not known", unavailable(undefined)],
  ["no answer within 4000 ms", new LedgerTimeout({ timeoutMs: 4000 })],
  ["disk full", new StoreUnavailable({ retryable: true, cause: new Error("disk full") })],
])("a sync that fails is logged once, with its cause: %s", async (cause, failure) => {
  const lines = await linesAfter(Effect.fail(failure));
  const told = lines.filter((line) => line.includes("level=WARN"));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(failure._tag);
  expect(told[0]).toContain(cause);
});
