import { expect, test } from "bun:test";
import { Deferred, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { logging } from "../../../app/lifecycle/logging.ts";
import { servedStores } from "../../../app/stores/stores-of-ledger.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { LogStore } from "../../../ports/log/log-store.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import type { OutcomeLog } from "../../../ports/outcome-log.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { ledgerPort } from "../../world/ledger-port.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

const FULL = new StoreUnavailable({
  retryable: true,
  store: "/data/index.sqlite",
  cause: "SQLITE_FULL",
  fault: { problem: "no space is left on its disk", cure: "Free some there." },
});

test("what keeps the stores from opening is logged at once and again each minute, and readers learn it", () => {
  const lines: Array<string> = [];
  return Effect.gen(function* () {
    const refused = yield* Deferred.make<never, unknown>();
    const stores = servedStores({
      cluster: "localnet",
      deployment: TEST_DEPLOYMENT,
      open: (): Layer.Layer<IndexReader | LogStore | OutcomeLog, StoreUnavailable> =>
        Layer.effectContext(Effect.fail(FULL)),
      recorded: Effect.succeed(TEST_GENESIS_HASH),
      refused,
    });
    const reader = yield* Effect.provide(IndexReader, yield* Layer.build(stores));
    yield* TestClock.adjust("1 second");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      "/data/index.sqlite cannot be used: no space is left on its disk (SQLITE_FULL). Free some there.",
    );
    expect(yield* Effect.flip(reader.summary)).toMatchObject({
      retryable: true,
      fault: FULL.fault,
    });
    yield* TestClock.adjust("58 seconds");
    expect(lines).toHaveLength(1);
    yield* TestClock.adjust("122 seconds");
    expect(lines).toHaveLength(4);
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Ledger, ledgerPort({ genesisHash: TEST_GENESIS_HASH })),
        logging("json", "warn", (line) => lines.push(line)),
        patientClock(),
      ),
    ),
    Effect.runPromise,
  );
});
