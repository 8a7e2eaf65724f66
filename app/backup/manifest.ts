import { createReadStream, type Dirent } from "node:fs";
import { createHash } from "node:crypto";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Option, Schema } from "effect";
import { syncFolder, writeDurably } from "../../adapters/bun/durable-file.ts";
import { type Hash32, parseHash32 } from "../../core/domain/hash32.ts";
import { BackupRefused } from "./backup-refused.ts";

/** The name of a backup's manifest, which is written last. */
export const MANIFEST_FILE = "manifest.json";

/** The form of a backup: its manifest and where its files stand. */
const FORMAT = "settlement-evidence-backup/1";
/** The version of the protocol whose accounts the stores hold. */
const PROTOCOL = 3;

const Hash = Schema.declare(
  (value): value is Hash32 => typeof value === "string" && parseHash32(value) === value,
);

const isInside = (path: string): boolean =>
  path.split("/").every((part) => !["", ".", ".."].includes(part));

/** What a backup says of itself. */
const Told = Schema.Struct({
  format: Schema.Literal(FORMAT),
  holds: Schema.Literals(["data", "keys"]),
  /** When it was begun, ISO 8601. */
  made_at: Schema.String,
  /** The version of the service that made it. */
  service: Schema.String,
  protocol: Schema.Literal(PROTOCOL),
  /** The version of the stores' schema. */
  schema: Schema.Natural,
  /** The database's dump; null where the stores are files. */
  database: Schema.NullOr(Schema.Struct({ schema: Schema.String, dumped_by: Schema.String })),
  /** The ledger whose rows it holds: genesis hash and programs, base58. Null while none was known, and for keys. */
  ledger: Schema.NullOr(
    Schema.Struct({
      genesis_hash: Schema.String,
      custody_program: Schema.String,
      attestor_program: Schema.String,
    }),
  ),
  /** The tree that the log signed last, by its leaves and root. Null before its first signature, and for keys. */
  log: Schema.NullOr(Schema.Struct({ origin: Schema.String, size: Schema.Natural, root: Hash })),
  /** Each file by its path below the backup's folder, with `/`. */
  files: Schema.Array(
    Schema.Struct({
      path: Schema.String.check(Schema.makeFilter(isInside)),
      bytes: Schema.Natural,
      sha256: Hash,
    }),
  ),
});
export type Manifest = typeof Told.Type;

/** What every version's manifest has. */
const AnyVersion = Schema.fromJsonString(
  Schema.Struct({ format: Schema.String, protocol: Schema.Number }),
);

/** Whether the file system says that there is no such file or folder. */
export const isMissing = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT";

/** The SHA-256 of a file's bytes. Rejects like the file system. */
export const digestOf = async (path: string): Promise<Hash32> => {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path)) hash.update(part as Uint8Array);
  const digest = parseHash32(hash.digest("hex"));
  if (digest === undefined) throw new Error("SHA-256 has 32 bytes");
  return digest;
};

/**
 * What stands below a folder, of one sort, by its paths with `/`; nothing where there is no folder. A link to a folder
 * is not followed, which a recursive `readdir` of Bun does.
 */
const below = async (
  folder: string,
  isWanted: (entry: Dirent) => boolean,
): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    if (isMissing(cause)) return [];
    throw cause;
  });
  const paths = entries.filter(isWanted).map(({ name }) => name);
  for (const entry of entries)
    if (entry.isDirectory())
      for (const path of await below(join(folder, entry.name), isWanted))
        paths.push(`${entry.name}/${path}`);
  return paths;
};

/** The files below a folder, sorted. */
export const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await below(folder, (entry) => entry.isFile())).toSorted();

/** The symbolic links below a folder. */
export const linksBelow = (folder: string): Promise<ReadonlyArray<string>> =>
  below(folder, (entry) => entry.isSymbolicLink());

/** Makes a file and its name durable. */
export const syncFile = async (path: string): Promise<void> => {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
};

/**
 * Ends a backup: the manifest of all files in the folder, durably, and nothing after it. Gives the SHA-256 of the
 * manifest, which stands for all of the backup.
 */
export const writeManifest = async (
  folder: string,
  told: Omit<Manifest, "format" | "protocol" | "files">,
): Promise<{ readonly manifest: Manifest; readonly digest: Hash32 }> => {
  const files: Array<Manifest["files"][number]> = [];
  for (const path of await filesBelow(folder)) {
    const file = join(folder, path);
    files.push({ path, bytes: (await stat(file)).size, sha256: await digestOf(file) });
  }
  const manifest: Manifest = { format: FORMAT, ...told, protocol: PROTOCOL, files };
  const path = join(folder, MANIFEST_FILE);
  await writeDurably(path, `${JSON.stringify(manifest, null, 2)}\n`, 0o600);
  return { manifest, digest: await digestOf(path) };
};

const MADE_ANEW = "Make a backup anew, or restore another one";

/** The refusal of a backup whose bytes are not those that its manifest names. */
export const changed = (detail: string) => new BackupRefused("backup_changed", detail, MADE_ANEW);

const versionOf = Schema.decodeUnknownOption(AnyVersion);
const manifestOf = Schema.decodeUnknownOption(Schema.fromJsonString(Told));

const parse = (text: string, folder: string): Manifest => {
  const version = Option.getOrNull(versionOf(text));
  if (version !== null && (version.format !== FORMAT || version.protocol !== PROTOCOL))
    throw new BackupRefused(
      "backup_of_another_version",
      `the backup is ${version.format} of protocol ${version.protocol}; this version reads ${FORMAT} of protocol ${PROTOCOL}`,
      "Restore it with the version of the service that made it",
    );
  const manifest = Option.getOrNull(manifestOf(text));
  if (manifest === null)
    throw changed(`${join(folder, MANIFEST_FILE)} is not what a backup writes there`);
  return manifest;
};

/**
 * The manifest of a backup whose every file is there as it says, and no other. `expected` is the manifest's digest as
 * `writeManifest` gave it; null where the caller does not know it.
 * @throws BackupRefused for a folder that is no whole backup.
 */
export const readBackup = async (folder: string, expected: Hash32 | null): Promise<Manifest> => {
  const path = join(folder, MANIFEST_FILE);
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) {
    const leftovers = await filesBelow(folder).catch(() => []);
    throw leftovers.length === 0
      ? new BackupRefused("no_backup", `${folder} holds no backup`, "Name the folder of one")
      : new BackupRefused(
          "backup_unfinished",
          `${folder} has no ${MANIFEST_FILE}, which a backup writes last`,
          "It was stopped on its way: restore another one",
        );
  }
  if (expected !== null && (await digestOf(path)) !== expected)
    throw changed(`${path} has another SHA-256 than the one given`);
  const manifest = parse(text, folder);
  const named = new Map(manifest.files.map((file) => [file.path, file]));
  const there = new Set(await filesBelow(folder));
  for (const name of there)
    if (name !== MANIFEST_FILE && !named.has(name))
      throw changed(`${join(folder, name)} is not in the backup's manifest`);
  for (const { path: name, bytes, sha256 } of named.values()) {
    const file = join(folder, name);
    // A link to a file elsewhere is none of the backup's.
    if (!there.has(name)) throw changed(`${file} is missing`);
    if ((await stat(file)).size !== bytes || (await digestOf(file)) !== sha256)
      throw changed(`${file} has other bytes than were backed up`);
  }
  return manifest;
};
