import { constants } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Effect } from "effect";
import { LOCAL_LEDGER_FOLDER } from "../../adapters/local-ledger/options.ts";
import { inspectLedgerDatabase } from "../../adapters/local-ledger/runtime/ledger-database.ts";
import { INDEX_KIND } from "../../adapters/sqlite/index/index-schema.ts";
import { inspectStore } from "../../adapters/sqlite/inspect-store.ts";
import { STANDING_FILE, STANDING_KIND } from "../../adapters/sqlite/log/standing-file.ts";
import type { StoreKind } from "../../adapters/sqlite/open-store.ts";
import { PACKETS_KIND } from "../../adapters/sqlite/packets/settled-packets.ts";
import { OUTCOME_KIND } from "../../adapters/sqlite/relay/outcome-schema.ts";
import type { Settings } from "../config/settings.ts";
import { DataDirectoryUnusable, notWritable, readableByAll } from "../stores/data-directory.ts";
import { deploymentOf, logFolder, packetsPath, storePath } from "../lifecycle/started-instance.ts";
import { checkDatabase, storeText } from "./check-database.ts";
import { type Finding, finding, Problem } from "./finding.ts";

/** Every file that a service opens as a store below its data directory. */
const storesIn = (dataDir: string): ReadonlyArray<readonly [path: string, kind: StoreKind]> => [
  [storePath(dataDir, "index"), INDEX_KIND],
  [storePath(dataDir, "relay"), OUTCOME_KIND],
  [join(logFolder(dataDir), STANDING_FILE), STANDING_KIND],
  [packetsPath(dataDir), PACKETS_KIND],
];

/** The path if it exists, otherwise the nearest existing folder above it. */
const standing = async (path: string): Promise<string> => {
  const there = await stat(path).catch(() => null);
  return there === null && dirname(path) !== path ? standing(dirname(path)) : path;
};

const checkDirectory = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      const place = await standing(path);
      if (!(await stat(place)).isDirectory()) throw new Error(`${place} is not a directory`);
      await access(place, constants.W_OK | constants.X_OK);
      if (place !== path) return `${path} will be made in ${place}`;
      const warning = await readableByAll(path);
      return `${path} is writable${warning === undefined ? "" : `. ${warning}`}`;
    },
    catch: (cause) => new DataDirectoryUnusable({ path, reason: notWritable(cause) }),
  });

/** Bytes that a start and a first sync surely need. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;

/** A problem when the disk below a path is full, nothing otherwise, also where the file system does not tell. */
const checkRoom = Effect.fnUntraced(function* (path: string) {
  const free = yield* Effect.promise(async () => {
    const told = await standing(path)
      .then((place) => statfs(place))
      .catch(() => null);
    return told === null ? Number.POSITIVE_INFINITY : told.bavail * told.bsize;
  });
  if (free >= LEAST_FREE_BYTES) return [];
  const reason = `no space is left on its disk (${free} bytes are free). Free space on the disk of the stores, or set another DATA_DIR`;
  return [yield* finding("data", new DataDirectoryUnusable({ path, reason }))];
});

/** What the embedded ledger would find in DATA_DIR. */
const checkLocalLedger = (dataDir: string) => {
  const inspected = inspectLedgerDatabase(join(dataDir, LOCAL_LEDGER_FOLDER));
  const { path } = inspected;
  switch (inspected.found) {
    case "nothing":
      return Effect.succeed(`${path} will be made`);
    case "in_use":
      return Effect.succeed(`${path}: a running ledger holds it`);
    case "sound":
      return Effect.succeed(`${path}: schema version ${inspected.version}`);
    case "unusable":
      return Effect.fail(new Problem({ message: `${path}: ${inspected.reason}` }));
  }
};

/** What stands in DATA_DIR, and the store that is there or at DATABASE_URL. Nothing is written. */
export const checkStore = Effect.fnUntraced(function* (
  settings: Settings,
  genesisHash: string | null,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const { database } = settings;
  const dataDir = resolve(settings.dataDir);
  const identity =
    genesisHash === null ? null : { genesisHash, deployment: deploymentOf(settings) };
  const directory = yield* finding("data", checkDirectory(dataDir));
  const room = directory.ok ? yield* checkRoom(dataDir) : [];
  const hasLedger = settings.ledger.kind === "embedded" && directory.ok;
  const ledger = hasLedger ? [yield* finding("store", checkLocalLedger(dataDir))] : [];
  if (database !== null)
    return [directory, ...room, ...(yield* checkDatabase(database, identity)), ...ledger];
  if (!directory.ok) return [directory];
  const stores = yield* Effect.forEach(storesIn(dataDir), ([path, kind]) => {
    const inspected = inspectStore(path, kind, kind === PACKETS_KIND ? null : identity);
    return finding(
      "store",
      Effect.map(inspected, (version) => storeText(path, version)),
    );
  });
  return [directory, ...room, ...stores, ...ledger];
});
