import { Effect, Exit, type Fiber, Layer, Scope, Stream } from "effect";
import type { SyncReport } from "../../../core/domain/index/sync-report.ts";
import { IndexSync, makeIndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { makeReplicatedIndexSync } from "../../../core/use-cases/index/sync/replicated-index-sync.ts";
import type { SyncFailure } from "../../../core/use-cases/index/sync/sync-failure.ts";
import { makeLogPublisher } from "../../../core/use-cases/log/log-publisher.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { SyncLease } from "../../../ports/index/sync-lease.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger, LedgerNodes } from "../../../ports/ledger/ledger.ts";
import { type LogKey, LogSigner, type SigningKey } from "../../../ports/log/log-signer.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { WitnessClient } from "../../../ports/log/log-source.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import type { Index, IndexLayer } from "../../contracts/fresh-index.ts";
import { testInstance } from "../../core/use-cases/test-instance.ts";
import { noArchive, nothingKept } from "../../doubles/nothing-kept.ts";
import { logIdentity } from "../../doubles/log-identity.ts";
import { MortalCalls } from "./mortal-calls.ts";
import { WITNESSED } from "./schedule-witness.ts";

/**
 * Where a process runs: the store that it opens, its nodes, its lease and its key.
 */
export type ProcessParts = {
  readonly store: IndexLayer<unknown>;
  /** Wraps the opened store's writes, such as in a check of the lease's term. */
  readonly guard: (index: Index) => Index;
  readonly pool: Ledger["Service"];
  readonly nodes: LedgerNodes["Service"];
  readonly lease: SyncLease["Service"] | null;
  /** The log's key, whose files outlive the process. */
  readonly key: LogKey;
  /** Asks the log's witness. */
  readonly witness: WitnessClient["Service"]["addCheckpoint"];
};

/** A process that syncs a store and publishes its log. */
export type ScheduleProcess = {
  readonly calls: MortalCalls;
  /** The store as the process opened it, without the process's mortality. */
  readonly index: Index;
  /** Requests a sync. */
  readonly sync: Effect.Effect<Fiber.Fiber<SyncReport, SyncFailure>>;
  /** Why publishing was refused, null while it goes on. */
  readonly refused: () => unknown;
  /** Ends the process as it stands: at once when it is dead, otherwise as a service ends. */
  readonly end: Effect.Effect<void>;
};

const mortalLedger = (port: Ledger["Service"], { call, wrapped }: MortalCalls) => ({
  ...wrapped({ ...port, programAccounts: () => Effect.void }),
  programAccounts: (kind: Parameters<Ledger["Service"]["programAccounts"]>[0]) =>
    Stream.mapEffect(port.programAccounts(kind), (chunk) => call(Effect.succeed(chunk))),
});

const mortalWriter = (writer: IndexWriter["Service"], { call, wrapped }: MortalCalls) => ({
  ...wrapped({ ...writer, build: Effect.void }),
  build: Effect.map(call(writer.build), wrapped),
});

/** A lease that a dead process keeps until it runs out. */
const mortalLease = (lease: SyncLease["Service"], calls: MortalCalls): SyncLease["Service"] => {
  const alive = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => (calls.isDead ? Effect.never : effect));
  return {
    hold: alive(calls.counted(lease.hold)),
    release: Effect.suspend(() => (calls.isDead ? Effect.void : lease.release)),
    ask: (kind) => alive(lease.ask(kind)),
    answer: (...answer) => alive(lease.answer(...answer)),
    answerTo: (request) => alive(lease.answerTo(request)),
    news: alive(lease.news),
  };
};

/** Starts a process; its time is that of the fiber that starts it. */
export const startProcess = Effect.fnUntraced(function* (parts: ProcessParts) {
  const calls = new MortalCalls();
  const scope = yield* Scope.make();
  const opened = yield* Layer.buildWithScope(parts.store, scope);
  const index = parts.guard({
    reader: yield* Effect.provide(IndexReader, opened),
    writer: yield* Effect.provide(IndexWriter, opened),
    log: yield* Effect.provide(LogStore, opened),
  });
  const { keys, ...keyCalls } = parts.key;
  const mortal = ({ publicKey, sign }: SigningKey) => ({ publicKey, ...calls.wrapped({ sign }) });
  const key = {
    keys: Effect.map(keys, ([first, ...others]) => [mortal(first), ...others.map(mortal)] as const),
    ...calls.wrapped(keyCalls),
  };
  const services = Layer.mergeAll(
    Layer.succeed(IndexReader, calls.wrapped(index.reader)),
    Layer.succeed(IndexWriter, mortalWriter(index.writer, calls)),
    Layer.succeed(LogStore, calls.wrapped(index.log)),
    Layer.succeed(Ledger, mortalLedger(parts.pool, calls)),
    Layer.succeed(LedgerNodes, parts.nodes),
    nothingKept,
    noArchive,
    Layer.succeed(LogSigner, { name: "log.example", key }),
    logIdentity(TEST_GENESIS_HASH, TEST_DEPLOYMENT),
    Layer.succeed(Instance, { ...testInstance(), deployment: TEST_DEPLOYMENT }),
    Layer.succeed(WitnessClient, { addCheckpoint: parts.witness }),
  );
  const running = Effect.gen(function* () {
    const publisher = yield* makeLogPublisher(WITNESSED);
    const local = yield* makeIndexSync(publisher.grown);
    const sync =
      parts.lease === null
        ? local
        : yield* makeReplicatedIndexSync(local).pipe(
            Effect.provideService(SyncLease, mortalLease(parts.lease, calls)),
          );
    const publishing = yield* Effect.forkScoped(Effect.exit(publisher.run));
    return { sync, publishing };
  });
  const { sync, publishing } = yield* running.pipe(Effect.provide(services), Scope.provide(scope));
  const started: ScheduleProcess = {
    calls,
    index,
    sync: Effect.forkIn(IndexSync.of(sync).request, scope),
    refused: () => {
      const exit = publishing.pollUnsafe();
      return exit === undefined ? null : exit;
    },
    end: Scope.close(scope, Exit.void),
  };
  return started;
});
