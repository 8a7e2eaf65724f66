import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer, type Scope } from "effect";
import { indexMemory } from "../../../adapters/memory/index-store.ts";
import { indexSqlite } from "../../../adapters/sqlite/index-store.ts";
import { SyncEpoch, type SyncLease } from "../../../ports/index/sync-lease.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import type { Index, IndexLayer } from "../../contracts/fresh-index.ts";
import { leaseOn, makeBoard } from "../../core/use-cases/index/lease-in-memory.ts";
import { tmpdir } from "../../temporary-root.ts";

/** The store of one schedule, which outlives the processes that open it. */
export type ScheduleStore = {
  readonly layer: IndexLayer<unknown>;
  /** Wraps what a process opened. */
  readonly guard: (index: Index) => Index;
  /** The lease of a replica, null where one process at a time has the store. */
  readonly leaseOf: (replica: number) => SyncLease["Service"] | null;
  /** A backup of it while no process has it open, null for a store that nobody can back up. */
  readonly backup: StoreBackup | null;
};

/** One copy of a store. */
type StoreBackup = {
  /** Copies the store, in place of an earlier copy. */
  readonly keep: Effect.Effect<void>;
  /** Takes the store back to the copy; there is one. */
  readonly restore: Effect.Effect<void>;
};

/** A kind of store, and the most processes that may share one. */
export type StoreKind = {
  readonly name: string;
  readonly mostReplicas: number;
  readonly open: (replicas: number) => Effect.Effect<ScheduleStore, never, Scope.Scope>;
};

/** Refuses writes of a term that is over, as a shared store does. */
const inTermOf =
  (board: ReturnType<typeof makeBoard>) =>
  ({ reader, writer, log }: Index): Index => {
    const checked = <A, E, R>(write: Effect.Effect<A, E, R>) =>
      Effect.flatMap(SyncEpoch, (epoch): Effect.Effect<A, E | StoreUnavailable, R> =>
        epoch === board.epoch
          ? write
          : Effect.fail(new StoreUnavailable({ retryable: true, cause: "the term is over" })),
      );
    return {
      reader,
      writer: {
        ...writer,
        apply: (changes) => checked(writer.apply(changes)),
        build: Effect.map(checked(writer.build), (build) => ({
          ...build,
          add: (rows) => checked(build.add(rows)),
          finish: (mark) => checked(build.finish(mark)),
        })),
      },
      log: {
        ...log,
        isWriter: Effect.map(SyncEpoch, (epoch) => epoch === board.epoch),
        keepTiles: (tiles) => checked(log.keepTiles(tiles)),
        replaceStanding: (before, next) => checked(log.replaceStanding(before, next)),
      },
    };
  };

/** A store in memory. Its replicas share the rows. */
export const inMemory: StoreKind = {
  name: "memory",
  mostReplicas: 3,
  open: Effect.fnUntraced(function* (replicas) {
    const opened = yield* Layer.build(indexMemory());
    const board = makeBoard();
    return {
      layer: Layer.succeedContext(opened),
      guard: replicas === 1 ? (index) => index : inTermOf(board),
      leaseOf: (replica) => (replicas === 1 ? null : leaseOn(board, replica)),
      backup: null,
    };
  }),
};

/** A store in files, opened anew by each process. */
export const inSqlite: StoreKind = {
  name: "SQLite",
  mostReplicas: 1,
  open: Effect.fnUntraced(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "log-schedule-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true })),
    );
    const [data, copy] = [join(folder, "data"), join(folder, "copy")];
    const copied = (from: string, to: string) =>
      Effect.sync(() => {
        rmSync(to, { recursive: true, force: true });
        cpSync(from, to, { recursive: true });
      });
    mkdirSync(data);
    return {
      layer: indexSqlite({
        genesisHash: TEST_GENESIS_HASH,
        deployment: TEST_DEPLOYMENT,
        path: join(data, "index.sqlite"),
        logFolder: join(data, "log"),
      }),
      guard: (index) => index,
      leaseOf: () => null,
      backup: { keep: copied(data, copy), restore: copied(copy, data) },
    };
  }),
};
