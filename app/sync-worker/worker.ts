import { parentPort } from "node:worker_threads";
import {
  Cause,
  Context,
  Deferred,
  Duration,
  Effect,
  Exit,
  Layer,
  Queue,
  Redacted,
  Schedule,
} from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { ledgerArchiveSolanaRpc } from "../../adapters/solana-rpc/history/ledger-archive-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { ledgerNodesSolanaRpc } from "../../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { indexSqlite } from "../../adapters/sqlite/index-store.ts";
import { LedgerCalls } from "../../ports/ledger/ledger-calls.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { encodeOutcome } from "../../core/use-cases/index/sync/sync-failure.ts";
import { readSettings } from "../config/settings.ts";
import { observing } from "../lifecycle/logging.ts";
import { recordedBySqlite, sqliteBroken, sqliteIndex } from "../stores/sqlite-stores.ts";
import {
  clusterOf,
  deploymentOf,
  instanceLayer,
  type StartedInstance,
} from "../lifecycle/started-instance.ts";
import { type StoresRefused, syncedStores } from "../stores/stores-of-ledger.ts";
import { runSyncingSide, syncingSide } from "../syncing/syncing-side.ts";
import {
  type FromSyncWorker,
  plainRefusal,
  type SyncStart,
  type ToSyncWorker,
} from "./messages.ts";

/** How often the activity is compared with what was told last. */
const LOOK_AT_ACTIVITY = Schedule.spaced(Duration.millis(250));

if (parentPort === null) throw new Error("this module runs as a worker only");
const service = parentPort;
const tell = (message: FromSyncWorker): void => service.postMessage(message);

const redacted = (url: string) => Redacted.make(new URL(url));

const startedInstance = Effect.fnUntraced(function* (start: SyncStart) {
  const [first, ...others] = start.rpcUrls;
  const started: StartedInstance = {
    settings: yield* readSettings(process.env),
    dataDir: start.dataDir,
    rpcUrls: [redacted(first), ...others.map(redacted)],
    webSocketUrl: redacted(start.webSocketUrl),
    startedAtMs: start.startedAtMs,
  };
  return started;
});

const services = (started: StartedInstance, refused: Deferred.Deferred<never, StoresRefused>) => {
  const solana = Layer.provide(
    Layer.mergeAll(ledgerSolanaRpc, ledgerNodesSolanaRpc, ledgerArchiveSolanaRpc),
    nodePool(solanaRpcConfig(started.rpcUrls)),
  );
  const stores = syncedStores({
    cluster: clusterOf(started.settings),
    deployment: deploymentOf(started.settings),
    open: (genesisHash) => indexSqlite(sqliteIndex(started, genesisHash)),
    recorded: recordedBySqlite(started),
    refused,
    broken: sqliteBroken(started),
    whenOpen: Effect.sync(() => tell({ kind: "opened" })),
    whenHindered: (hindrance) =>
      Effect.sync(() => tell({ kind: "hindered", hindrance: plainRefusal(hindrance) })),
  });
  return syncingSide(started, (grown) => tell({ kind: "grown", grown })).pipe(
    Layer.provideMerge(Layer.merge(stores, instanceLayer(started, null))),
    Layer.provideMerge(solana),
  );
};

/** JSON has neither. */
const asPlain = (_name: string, value: unknown): unknown => {
  if (value instanceof Map) return [...value];
  return typeof value === "bigint" ? value.toString() : value;
};

/** Tells the activity when it differs from what was told last. */
const activityTeller = (sync: IndexSync["Service"]): Effect.Effect<void> => {
  let told = "";
  const calls = Effect.flatten(LedgerCalls);
  return Effect.map(Effect.all([sync.activity, calls]), ([shown, callsElsewhere]) => {
    const activity = { ...shown, callsElsewhere };
    const text = JSON.stringify(activity, asPlain);
    if (text !== told) tell({ kind: "activity", activity });
    told = text;
  });
};

/** Syncs until it is asked to stop. Fails when it cannot continue. */
const work = Effect.fnUntraced(function* (
  inbox: Queue.Dequeue<ToSyncWorker>,
  started: StartedInstance,
) {
  const refused = yield* Deferred.make<never, StoresRefused>();
  const context = yield* Layer.build(services(started, refused));
  const sync = Context.get(context, IndexSync);
  const tellActivity = Effect.provide(activityTeller(sync), context);
  const answer = Effect.fnUntraced(function* (kind: "sync" | "snapshot", id: number) {
    const exit = yield* Effect.exit(kind === "snapshot" ? sync.snapshot : sync.request);
    yield* tellActivity;
    const failure = Exit.findErrorOption(exit);
    if (Exit.isSuccess(exit))
      tell({ kind: "synced", id, outcome: encodeOutcome({ report: exit.value }) });
    else if (failure._tag === "Some")
      tell({ kind: "synced", id, outcome: encodeOutcome({ failure: failure.value }) });
    else {
      yield* Effect.logError("a requested sync broke", exit.cause);
      tell({ kind: "synced", id, outcome: null });
    }
  });
  yield* Effect.forkScoped(Effect.repeat(tellActivity, LOOK_AT_ACTIVITY));
  yield* runSyncingSide(started, refused).pipe(Effect.provide(context), Effect.forkScoped);
  const untilStopped = Effect.gen(function* () {
    for (;;) {
      const message = yield* Queue.take(inbox);
      if (message.kind === "stop") return;
      if (message.kind === "start") continue;
      yield* Effect.forkScoped(answer(message.kind, message.id));
    }
  });
  yield* Effect.raceFirst(untilStopped, Deferred.await(refused));
}, Effect.scoped);

const inbox = Effect.runSync(Queue.unbounded<ToSyncWorker>());
service.on("message", (message: ToSyncWorker) => {
  Queue.offerUnsafe(inbox, message);
});

const run = Effect.gen(function* () {
  const first = yield* Queue.take(inbox);
  if (first.kind !== "start") return yield* Effect.die(new Error("the first message is no start"));
  provideSha256(sha256Bun);
  const started = yield* Effect.orDie(startedInstance(first.start));
  const { logFormat } = first.start;
  const observed = observing({ ...started.settings, logFormat }, (line) =>
    tell({ kind: "log", line }),
  );
  yield* Effect.provide(work(inbox, started), observed);
});

const exit = await Effect.runPromiseExit(run);
if (Exit.isSuccess(exit)) tell({ kind: "stopped" });
else {
  const failure = Cause.findErrorOption(exit.cause);
  // The service learns of a bug by the error that ends the worker.
  if (failure._tag === "None") throw Cause.squash(exit.cause);
  tell({ kind: "refused", refusal: plainRefusal(failure.value) });
}
service.close();
