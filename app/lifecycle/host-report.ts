import { stat, statfs } from "node:fs/promises";
import process from "node:process";
import { Effect } from "effect";
import { SCHEMA_VERSION as FILE_SCHEMA } from "../../adapters/sqlite/open-store.ts";
import type { HostReport, StoreReport } from "../../ports/host-report.ts";
import { packetsPath, type StartedInstance, storePath } from "./started-instance.ts";

const sizeOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ size }) => size,
    () => null,
  );

/** What a SQLite store takes, with what it has not moved into its file yet. */
const sqliteBytes = async (path: string): Promise<number | null> => {
  const [file, ahead] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
  return file === null ? null : file + (ahead ?? 0);
};

const file = async (name: StoreReport["name"], path: string): Promise<StoreReport> => ({
  name,
  kind: "sqlite",
  bytes: await sqliteBytes(path),
  schema: FILE_SCHEMA,
});

const storesOf = async ({
  settings,
  dataDir,
}: StartedInstance): Promise<ReadonlyArray<StoreReport>> => {
  if (settings.database !== null) {
    // Loaded only where a database is used, as everything of PostgreSQL.
    const { SCHEMA_VERSION: schema } = await import("../../adapters/postgres/store-schema.ts");
    return [{ name: "database", kind: "postgres", bytes: null, schema }];
  }
  return Promise.all([
    file("index", storePath(dataDir, "index")),
    file("relay", storePath(dataDir, "relay")),
    file("packets", packetsPath(dataDir)),
  ]);
};

const diskOf = (path: string): Promise<HostReport["disk"]> =>
  statfs(path).then(
    ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, sizeBytes: blocks * bsize }),
    () => null,
  );

/** What this process takes of its machine, read anew each time. */
export const hostReport = (started: StartedInstance): Effect.Effect<HostReport> =>
  Effect.promise(async () => {
    const [stores, disk] = await Promise.all([storesOf(started), diskOf(started.dataDir)]);
    return { stores, disk, residentBytes: process.memoryUsage.rss() };
  });
