import { chmod, copyFile, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { clusterOfGenesis } from "../config/cluster.ts";
import { SCHEMA_VERSION as DATABASE_SCHEMA_VERSION } from "../../adapters/postgres/store-schema.ts";
import { SCHEMA_VERSION } from "../../adapters/sqlite/open-store.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { Settings } from "../config/settings.ts";
import { clusterOf, deploymentOf } from "../lifecycle/started-instance.ts";
import { BackupRefused } from "./backup-refused.ts";
import {
  BESIDE_LOG_KEY,
  isKey,
  isLeftOut,
  isNamedAsKey,
  LOCAL_LEDGER_FILE,
  WEBHOOKS_FILE,
} from "./data-files.ts";
import { DUMP_FILE } from "./database-dump.ts";
import { changed, digestOf, type Manifest, readBackup, syncFile } from "./manifest.ts";
import { filledWhole, refuseFull } from "./take-backup.ts";

const OTHER_BACKUP = "Restore another backup, or correct the settings";

/** What the restored service will run on. */
export type Configured = {
  readonly settings: Pick<Settings, "ledger">;
  /** The genesis hash that a node of the settings shows; null where none answers. */
  readonly genesisHash: string | null;
};

/** @throws BackupRefused for stores of another schema. */
const refuseOtherSchema = ({ schema, database }: Manifest): void => {
  const supported = database === null ? SCHEMA_VERSION : DATABASE_SCHEMA_VERSION;
  if (schema !== supported)
    throw new BackupRefused(
      "backup_of_another_version",
      `the backup's stores have schema version ${schema}; this version of the service knows version ${supported}`,
      "Restore it with the version of the service that made it, or begin with an empty DATA_DIR: the index is built from the ledger",
    );
};

/** @throws BackupRefused for a backup of another schema, and of another ledger than the settings name. */
const refuseOthers = async (
  manifest: Manifest,
  configured: RestoreOrder["configured"],
): Promise<void> => {
  refuseOtherSchema(manifest);
  const { ledger, files } = manifest;
  // A witness keeps nothing of a ledger.
  if (ledger === null) return;
  const { settings, genesisHash } = await configured();
  const cure = `${OTHER_BACKUP}: SOLANA_RPC_URL, SOLANA_CLUSTER, CUSTODY_PROGRAM_ID, ATTESTOR_PROGRAM_ID`;
  const isEmbedded = settings.ledger.kind === "embedded";
  if (isEmbedded && !files.some(({ path }) => path === LOCAL_LEDGER_FILE))
    throw new BackupRefused(
      "backup_of_another_ledger",
      "the backup is of a ledger at a node, and no node is configured",
      cure,
    );
  const { custodyProgram, attestorProgram } = deploymentOf(settings);
  const differing = [
    ["the cluster", clusterOfGenesis(ledger.genesis_hash), clusterOf(settings)],
    ["the genesis hash", ledger.genesis_hash, genesisHash ?? ledger.genesis_hash],
    ["the custody program", ledger.custody_program, custodyProgram],
    ["the attestor program", ledger.attestor_program, attestorProgram],
  ].find(([, backed, expected]) => backed !== expected);
  if (differing === undefined) return;
  const [what, backed, expected] = differing;
  throw new BackupRefused(
    "backup_of_another_ledger",
    `${what} of the backup is ${backed}, and the configured one is ${expected}`,
    cure,
  );
};

/** A backup that is whole, and where it stands. */
type Whole = { readonly folder: string; readonly manifest: Manifest };

const wholeOf = async (
  folder: string,
  holds: Manifest["holds"],
  expected: Hash32 | null,
): Promise<Whole> => {
  const manifest = await readBackup(folder, expected);
  if (manifest.holds !== holds)
    throw new BackupRefused(
      "no_backup",
      `${folder} holds ${manifest.holds}, not ${holds}`,
      "Name the folder of the data with --from, that of the keys with --keys",
    );
  const hasDump = manifest.files.some(({ path }) => path === DUMP_FILE);
  if (hasDump !== (manifest.database !== null))
    throw changed(`${folder} and its manifest differ in whether it has ${DUMP_FILE}`);
  const planted = manifest.files.find(({ path }) => isLeftOut(path));
  if (planted !== undefined)
    throw changed(`${join(folder, planted.path)} is a file that no backup has`);
  for (const { path } of manifest.files) {
    const file = join(folder, path);
    // Of data the name decides: a key under another one is nobody's, and earlier versions knew fewer forms.
    if (holds === "data" && isNamedAsKey(path))
      throw changed(`${file} is a key, which is never with data`);
    const isBeside = path === DUMP_FILE || BESIDE_LOG_KEY.has(path);
    if (holds === "keys" && !isBeside && !(await isKey(file))) throw changed(`${file} is no key`);
  }
  return { folder, manifest };
};

/** @throws BackupRefused for keys that do not go with the data: their webhooks, or a file in another one's place. */
const refuseOtherKeys = ({ folder, manifest }: Whole, data: Manifest): void => {
  const { database, files } = manifest;
  if (database !== null && database.schema !== data.database?.schema)
    throw new BackupRefused(
      "database_refused",
      `${folder} holds the webhooks of the schema ${database.schema}, and the data is ${
        data.database === null ? "in files" : `of the schema ${data.database.schema}`
      }`,
      "Name the keys that were backed up with the data",
    );
  if (database !== null || files.some(({ path }) => path === WEBHOOKS_FILE))
    refuseOtherSchema(manifest);
  const ofData = new Set(data.files.map(({ path }) => path));
  for (const { path } of files)
    if (path !== DUMP_FILE && ofData.has(path) && !BESIDE_LOG_KEY.has(path))
      throw changed(`${join(folder, path)} would take the place of a file of the data`);
};

const copyInto = async (folder: string, { folder: from, manifest }: Whole): Promise<void> => {
  for (const { path, sha256 } of manifest.files) {
    const to = join(folder, path);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    await copyFile(join(from, path), to);
    // A backup that was carried may have lost its modes: read-only, or readable by all.
    await chmod(to, 0o600);
    // Whoever writes where the backup stands may have changed it since it was checked.
    if ((await digestOf(to)) !== sha256) throw changed(`${join(from, path)} changed meanwhile`);
    await syncFile(to);
  }
};

/** What is to be restored, and where to. */
type RestoreOrder = {
  readonly from: string;
  /** The folder of the keys that were backed up apart; null without. */
  readonly keys: string | null;
  /** The SHA-256 of the manifest, as the backup said it; null where the operator does not give it. */
  readonly digest: Hash32 | null;
  /** The same of the keys' manifest. */
  readonly keysDigest: Hash32 | null;
  /** A data directory that is not there yet, or is empty. */
  readonly dataDir: string;
  /** What the service's settings say; asked for a backup of a ledger's stores alone. */
  readonly configured: () => Promise<Configured>;
  /** Null where no database is configured. */
  readonly restoreDumps: RestoreDumps | null;
};

/** Restores dumps of a schema into a database, each on the one before it. */
export type RestoreDumps = (files: ReadonlyArray<string>, schema: string) => Promise<void>;

/**
 * Restores a backup into a new data directory, and its dump into the database that is configured. All of it is checked
 * before anything is written: the digests, the versions, the ledger. The data directory appears once it is whole, after
 * the database.
 */
export const restoreBackup = async (order: RestoreOrder): Promise<Manifest> => {
  const { dataDir, restoreDumps } = order;
  const data = await wholeOf(order.from, "data", order.digest);
  const keys = order.keys === null ? null : await wholeOf(order.keys, "keys", order.keysDigest);
  const { database } = data.manifest;
  await refuseOthers(data.manifest, order.configured);
  if (keys !== null) refuseOtherKeys(keys, data.manifest);
  if ((database === null) !== (restoreDumps === null))
    throw database === null
      ? new BackupRefused(
          "database_needed",
          "the backup's stores are files, and DATABASE_URL names a database",
          "Unset DATABASE_URL",
        )
      : new BackupRefused(
          "database_needed",
          `the backup holds a dump of the schema ${database.schema}`,
          "Set DATABASE_URL to the database that it goes into",
        );
  await refuseFull(dataDir, "Name a new folder with --data-dir, or move that one away");
  await filledWhole(dataDir, async (draft) => {
    const dumps: Array<string> = [];
    for (const whole of keys === null ? [data] : [data, keys]) {
      await copyInto(draft, whole);
      if (whole.manifest.database === null) continue;
      const dump = join(draft, `${DUMP_FILE}.${whole.manifest.holds}`);
      await rename(join(draft, DUMP_FILE), dump);
      dumps.push(dump);
    }
    if (database !== null) await restoreDumps?.(dumps, database.schema);
    for (const dump of dumps) await rm(dump);
  });
  return data.manifest;
};
