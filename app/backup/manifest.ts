import { createReadStream, existsSync } from "node:fs";
import { createHash } from "node:crypto";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder, writeDurably } from "../../adapters/bun/durable-file.ts";
import { type Hash32, parseHash32 } from "../../core/domain/hash32.ts";
import { BackupRefused } from "./backup-refused.ts";

/** The name of a backup's manifest, which is written last. */
export const MANIFEST_FILE = "manifest.json";

/** The form of a backup: its manifest and where its files stand. */
const FORMAT = "settlement-evidence-backup/1";
/** The version of the protocol whose accounts the stores hold. */
const PROTOCOL = 3;

/** A file of a backup. */
type BackedFile = {
  /** Below the backup's folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: Hash32;
};

/** The ledger whose rows a backup holds: genesis hash and programs, base58. */
type BackedLedger = {
  readonly genesis_hash: string;
  readonly custody_program: string;
  readonly attestor_program: string;
};

/** The log as a backup holds it. */
export type BackedLog = {
  readonly origin: string;
  /** Leaves of the tree that was signed last. */
  readonly size: number;
  readonly root: Hash32;
};

/** What a backup says of itself. */
export type Manifest = {
  readonly format: typeof FORMAT;
  readonly holds: "data" | "keys";
  /** When it was begun, ISO 8601. */
  readonly made_at: string;
  /** The version of the service that made it. */
  readonly service: string;
  readonly protocol: typeof PROTOCOL;
  /** The version of the stores' schema. */
  readonly schema: number;
  /** The database's dump; null where the stores are files. */
  readonly database: { readonly schema: string; readonly dumped_by: string } | null;
  /** Null while no ledger was known, and for keys. */
  readonly ledger: BackedLedger | null;
  /** Null before the log's first signature, and for keys. */
  readonly log: BackedLog | null;
  readonly files: ReadonlyArray<BackedFile>;
};

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

/** How often a folder is listed anew in which another one was removed meanwhile. */
const LISTINGS = 20;

/** The files below a folder by their paths with `/`, sorted; none where there is no folder. */
export const filesBelow = async (folder: string): Promise<ReadonlyArray<string>> => {
  for (let tries = LISTINGS; ; tries--)
    try {
      return (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
        .sort();
    } catch (cause) {
      if (!isMissing(cause) || tries === 0) throw cause;
      if (!existsSync(folder)) return [];
    }
};

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
  const files: Array<BackedFile> = [];
  for (const path of await filesBelow(folder)) {
    const file = join(folder, path);
    files.push({ path, bytes: (await stat(file)).size, sha256: await digestOf(file) });
  }
  const manifest: Manifest = { format: FORMAT, ...told, protocol: PROTOCOL, files };
  const path = join(folder, MANIFEST_FILE);
  await writeDurably(path, `${JSON.stringify(manifest, null, 2)}\n`, 0o600);
  return { manifest, digest: await digestOf(path) };
};

const isFile = (value: unknown): value is BackedFile => {
  const { path, bytes, sha256 } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const isInside =
    typeof path === "string" && path.split("/").every((part) => !["", ".", ".."].includes(part));
  return (
    isInside &&
    Number.isSafeInteger(bytes) &&
    typeof sha256 === "string" &&
    parseHash32(sha256) !== undefined
  );
};

const MADE_ANEW = "Make a backup anew, or restore another one";

/** The refusal of a backup whose bytes are not those that its manifest names. */
export const changed = (detail: string) => new BackupRefused("backup_changed", detail, MADE_ANEW);

const parse = (text: string, folder: string): Manifest => {
  const value = ((): Readonly<Record<string, unknown>> => {
    try {
      return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
    } catch {
      return {};
    }
  })();
  const { format, protocol, files } = value;
  if (typeof format !== "string" || !Array.isArray(files) || !files.every(isFile))
    throw changed(`${join(folder, MANIFEST_FILE)} is not what a backup writes there`);
  if (format !== FORMAT || protocol !== PROTOCOL)
    throw new BackupRefused(
      "backup_of_another_version",
      `the backup is ${format} of protocol ${String(protocol)}; this version reads ${FORMAT} of protocol ${PROTOCOL}`,
      "Restore it with the version of the service that made it",
    );
  return value as Manifest;
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
    throw changed(`${path} has another SHA-256 than --sha256 says`);
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
