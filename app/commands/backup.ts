import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { Redacted } from "effect";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import { BackupRefused } from "../backup/backup-refused.ts";
import {
  type Backed,
  backUpData,
  backUpKeys,
  refuseFull,
  refuseLinks,
} from "../backup/take-backup.ts";
import {
  EX_DATAERR,
  EX_NOINPUT,
  EX_USAGE,
  endWith,
  parseCommandLine,
  runAsProcess,
} from "../command-line/command-line.ts";
import * as kinds from "../config/kinds.ts";

const HELP = `Copies what a service or a witness keeps into a folder, while it runs. docs/backup.md has the whole drill.

usage: bun run cli backup --to FOLDER [options]

  --to FOLDER     where to: not there yet, or empty; it appears once the backup is whole
  --keys FOLDER   copies the keys too, into a folder of their own, for its user alone
  --data-dir DIR  the service's DATA_DIR   ($DATA_DIR, otherwise ./data)
  --help          this text

With DATABASE_URL in the environment the database is dumped by pg_dump, as one snapshot shows it. No key goes into --to, and
no webhook, whose secrets go with the keys. A symbolic link in DIR is refused: what it leads to would be missing.
EVIDENCE_SIGNING_KEY_FILE, LOG_SIGNING_KEY_FILE and WITNESS_KEY_FILE name keys that are not in DIR.

Ends with 0 when the backup is whole, 64 for a wrong command line, 65 when nothing is backed up, for a reason that one line
names, 66 when a file cannot be read or written.
`;

/** The database of an environment, null without one. Ends the command for a wrong address. */
export const databaseIn = (env: CommandIo["env"]): Redacted.Redacted<URL> | null => {
  const text = env["DATABASE_URL"]?.trim() ?? "";
  if (text === "") return null;
  const url = kinds.databaseUrl.parse(text);
  return url === undefined
    ? endWith(EX_USAGE, `DATABASE_URL: expected ${kinds.databaseUrl.expected}`)
    : Redacted.make(url);
};

/** Runs work on backups: a refusal ends the command, and so does what the file system refuses. */
export const onBackup = async <A>(work: () => Promise<A>): Promise<A> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BackupRefused) return endWith(EX_DATAERR, cause.message);
    if (cause instanceof Error && "syscall" in cause) return endWith(EX_NOINPUT, cause.message);
    throw cause;
  }
};

const isBelow = (path: string, folder: string): boolean =>
  !/^(\.\.($|\/)|\/)/.test(relative(folder, path));

const said = (to: string, { manifest, digest }: Backed): string => {
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
  const log = manifest.log;
  return `${to} holds ${manifest.files.length} files of ${manifest.holds}, ${bytes} bytes${
    log === null ? "" : `, with the log ${log.origin} at ${log.size} leaves`
  }.
Its manifest has the SHA-256 ${digest}
`;
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values } = parseCommandLine(args, HELP, {
    to: { type: "string" },
    keys: { type: "string" },
    "data-dir": { type: "string", default: io.env["DATA_DIR"] ?? "./data" },
  });
  if (values.to === undefined) return endWith(EX_USAGE, "--to is missing; see --help");
  const dataDir = resolve(values["data-dir"]);
  const to = resolve(values.to);
  const keys = values.keys === undefined ? null : resolve(values.keys);
  const database = databaseIn(io.env);
  for (const folder of keys === null ? [to] : [to, keys])
    if (isBelow(folder, dataDir))
      return endWith(EX_USAGE, `${folder} is in the data directory ${dataDir}; name another place`);
  if (keys !== null && (isBelow(keys, to) || isBelow(to, keys)))
    return endWith(EX_USAGE, "--keys and --to are one place; keep the keys apart");
  return onBackup(async () => {
    if (!existsSync(dataDir))
      throw new BackupRefused(
        "nothing_to_back_up",
        `${dataDir} is not there`,
        "Name the service's DATA_DIR with --data-dir",
      );
    for (const folder of keys === null ? [to] : [to, keys])
      await refuseFull(folder, "Name a new folder; each backup has its own");
    await refuseLinks(dataDir);
    const dump =
      database === null ? null : (await import("../backup/database-dump.ts")).dumpOf(database);
    // What a key has signed stands beside it, and must not be newer than the log's copy.
    if (keys !== null) io.stdout.write(said(keys, await backUpKeys(dataDir, keys, io.env, dump)));
    io.stdout.write(said(to, await backUpData(dataDir, to, dump)));
    return 0;
  });
};

if (import.meta.main) await runAsProcess(main);
