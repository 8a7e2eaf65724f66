import { Effect, Exit, Layer, Scope } from "effect";
import { syncLeasePostgres } from "../../../adapters/postgres/sync-lease.ts";
import type { SyncReport } from "../../../core/domain/index/sync-report.ts";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import type { SyncFailure } from "../../../core/use-cases/index/sync/sync-failure.ts";
import { makeReplicatedIndexSync } from "../../../core/use-cases/index/sync/replicated-index-sync.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { SyncEpoch } from "../../../ports/index/sync-lease.ts";
import { numberedBatch } from "../sqlite/numbered-batch.ts";
import { indexAt } from "./test-database.ts";

// Run as a process by the replicas' test: a replica on the store at argv[2] whose sync applies the next
// few numbered batches. It prints `sync EPOCH` when one begins, `failed` when one fails, and `answered` when
// a request of its own is.
const BATCHES_A_SYNC = 3;
const url = new URL(process.argv[2] ?? "");
const print = (line: string) => process.stdout.write(`${line}\n`);

const program = Effect.gen(function* () {
  const reader = yield* IndexReader;
  const writer = yield* IndexWriter;
  const sync: Effect.Effect<SyncReport, SyncFailure> = Effect.gen(function* () {
    const epoch = yield* SyncEpoch;
    print(`sync ${epoch}`);
    const { mark } = yield* reader.summary;
    const first = Number(mark?.slot ?? 0n) + 1;
    for (let number = first; number < first + BATCHES_A_SYNC; number++)
      yield* writer.apply(numberedBatch(number));
    return { id: `${process.pid}`, slot: BigInt(first) } as SyncReport;
  }).pipe(Effect.tapError(() => Effect.sync(() => print("failed"))));
  const replicated = yield* makeReplicatedIndexSync(
    IndexSync.of({
      request: sync,
      background: sync,
      activity: Effect.die("not asked for"),
      told: () => Effect.void,
      listening: () => Effect.void,
      snapshot: sync,
    }),
  );
  const ask = replicated.request.pipe(
    Effect.tap(() => Effect.sync(() => print("answered"))),
    Effect.ignore,
    Effect.andThen(Effect.sleep("100 millis")),
  );
  return yield* Effect.forever(ask);
});

const layer = Layer.provideMerge(syncLeasePostgres(), indexAt(url));
const scope = Scope.makeUnsafe();
process.once("SIGTERM", () => {
  void Effect.runPromise(Scope.close(scope, Exit.void)).then(() => process.exit(0));
});
await Effect.runPromise(
  Layer.buildWithScope(layer, scope).pipe(
    Effect.flatMap((services) => Effect.provide(program, services)),
    Scope.provide(scope),
  ),
);
