import { Clock, Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { syncIndex } from "../../../../core/use-cases/index/sync/sync-index.ts";
import type { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../ports/instance.ts";
import type { LedgerArchive } from "../../../../ports/ledger/ledger-archive.ts";
import { Ledger, LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { noArchive, nothingKept } from "../../../doubles/nothing-kept.ts";
import { ONE_NODE } from "../../../doubles/one-node.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import type { Index } from "../../../contracts/fresh-index.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import type { WeatheredChain } from "../../../world/weathered-chain.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const START_MS = 1_800_000_000_000;

const instance = { ...testInstance(), deployment: TEST_DEPLOYMENT };

/** A virtual clock on which every sleep passes at once. */
const impatientClock = Layer.effect(
  Clock.Clock,
  TestClock.testClockWith((clock) =>
    Effect.succeed({ ...clock, sleep: (duration) => clock.adjust(duration) }),
  ),
).pipe(Layer.provideMerge(patientClock()));

/** What a sync needs. */
export type Ports =
  | Ledger
  | LedgerNodes
  | IndexReader
  | IndexWriter
  | LogStore
  | Instance
  | LedgerArchive
  | Layer.Success<typeof nothingKept>;

/** One sync, as the `run`th of a process with this memory. */
export const syncWith = (memory: SyncMemory, run = 1) => syncIndex(run, memory, () => Effect.void);

/** What a test does: an effect, or the steps of one as `Effect.gen` takes them. */
export type Steps<A> =
  | Effect.Effect<A, unknown, Ports>
  | Generator<Effect.Effect<unknown, unknown, Ports>, A, never>;

/**
 * Runs a test's steps against a simulated ledger and an index in memory, silently and in virtual time in which no sleep
 * lasts.
 */
export const simulate = <Chain extends WeatheredChain, A>(
  ledger: Chain,
  stepsOf: (index: Index, ledger: Chain) => Steps<A>,
): Promise<A> =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MS);
    const index = { reader: yield* IndexReader, writer: yield* IndexWriter, log: yield* LogStore };
    const steps = stepsOf(index, ledger);
    return yield* Effect.isEffect(steps) ? steps : Effect.gen(() => steps);
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Ledger, ledger.port),
        Layer.succeed(LedgerNodes, ONE_NODE),
        Layer.succeed(Instance, instance),
        indexMemory(),
        nothingKept,
        noArchive,
        Logger.layer([]),
      ).pipe(Layer.provideMerge(impatientClock)),
    ),
    Effect.runPromise,
  );

/** Everything in an index that does not depend on the number and times of its syncs. */
export const contents = ({ reader }: Index) =>
  Effect.gen(function* () {
    const events = yield* reader.events({}, 1000, { after: 0n });
    return {
      escrows: yield* reader.escrows({}, 1000, null),
      merchants: (yield* reader.merchants({}, 1000, null)).map(({ merchant }) => merchant),
      events: Object.fromEntries(
        events
          .map(({ event, signature, slot }) => [event.id, { event, signature, slot }] as const)
          .sort(([a], [b]) => (a < b ? -1 : 1)),
      ),
    };
  });
