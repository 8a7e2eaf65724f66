import { Clock, Effect, Layer } from "effect";
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

/** Runs a program against a simulated ledger and an index in memory, in virtual time in which no sleep lasts. */
export const simulate = <A, E>(
  ledger: WeatheredChain,
  program: (index: Index) => Effect.Effect<A, E, Ports>,
): Promise<A> =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MS);
    return yield* program({
      reader: yield* IndexReader,
      writer: yield* IndexWriter,
      log: yield* LogStore,
    });
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Ledger, ledger.port),
        Layer.succeed(LedgerNodes, ONE_NODE),
        Layer.succeed(Instance, instance),
        indexMemory(),
        nothingKept,
        noArchive,
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
