import { type Deferred, Effect, Layer, Queue } from "effect";
import type { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import type { IndexNews } from "../../ports/index/index-news.ts";
import type { IndexReader } from "../../ports/index/index-reader.ts";
import type { Instance } from "../../ports/instance.ts";
import type { LedgerArchive } from "../../ports/ledger/ledger-archive.ts";
import type { Ledger, LedgerNodes } from "../../ports/ledger/ledger.ts";
import type { LogIdentity } from "../../ports/log/log-signer.ts";
import type { LogStore } from "../../ports/log/log-store.ts";
import type { OutcomeLog } from "../../ports/outcome-log.ts";
import type { SettledPackets } from "../../ports/settled-packets.ts";
import type { WebhookRecords } from "../../ports/webhook-records.ts";
import type { StartedInstance } from "../lifecycle/started-instance.ts";
import type { SyncThread } from "../sync-worker/sync-thread.ts";
import type { GrownMark } from "../syncing/syncing-side.ts";
import type { IndexRefused } from "./index-refused.ts";

/** The stores and the syncs on them. One that lacks a part does not compile. */
export type Storage = Layer.Layer<
  | IndexReader
  | IndexNews
  | LogStore
  | LogIdentity
  | OutcomeLog
  | SettledPackets
  | IndexSync
  | WebhookRecords,
  never,
  Ledger | LedgerArchive | LedgerNodes | Instance
>;

/** Whose stores they are, and who learns of them. */
export type StorageParts = {
  readonly started: StartedInstance;
  /** Completes when a store turns out to be unusable. */
  readonly refused: Deferred.Deferred<never, IndexRefused>;
  /** Gets how far the index is complete after each sync, and whether another replica makes them. */
  readonly marks: Queue.Queue<GrownMark | Standby>;
};

/** Whether this replica stands beside the one that syncs. */
export type Standby = { readonly isBeside: boolean };

/** Puts how far the index is complete into the queue, or who syncs it. */
export const tellOf =
  ({ marks }: Pick<StorageParts, "marks">) =>
  (grown: GrownMark | Standby): void => {
    Queue.offerUnsafe(marks, grown);
  };

/**
 * The stores and the syncs that settings ask for. With `thread`, SQLite stores are written by its worker; without, by
 * this thread. Only the modules of that choice are loaded.
 */
export const storage = (parts: StorageParts, thread: SyncThread | null): Storage => {
  const { database } = parts.started.settings;
  const chosen = async (): Promise<Storage> => {
    if (database !== null) {
      const { storageInDatabase } = await import("./storage-in-database.ts");
      return storageInDatabase(parts, database);
    }
    if (thread !== null) {
      const { storageInWorker } = await import("./storage-in-worker.ts");
      return storageInWorker(parts, thread);
    }
    const { storageInThisThread } = await import("./storage-in-this-thread.ts");
    return storageInThisThread(parts);
  };
  return Layer.unwrap(Effect.promise(chosen));
};
