import { Effect, Layer } from "effect";
import type { SyncThread } from "../sync-worker/sync-thread.ts";
import type { Storage, StorageParts } from "./storage-parts.ts";

/**
 * The stores and the syncs that settings ask for. With `thread`, SQLite stores are written by its worker; without, by this
 * thread. Only the modules of that choice are loaded.
 */
export const storage = (parts: StorageParts, thread: SyncThread | null): Storage => {
  const { databaseUrl } = parts.started.settings;
  const chosen = async (): Promise<Storage> => {
    if (databaseUrl !== null) {
      const { storageInDatabase } = await import("./storage-in-database.ts");
      return storageInDatabase(parts, databaseUrl);
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
