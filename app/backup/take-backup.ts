import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Cause, Effect, Exit } from "effect";
import { makeFolderDurably, syncFolder } from "../../adapters/bun/durable-file.ts";
import { copyStore, identityOfCopy, standingOfCopy } from "../../adapters/sqlite/copy-store.ts";
import { SCHEMA_VERSION } from "../../adapters/sqlite/open-store.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import { parseLogStanding } from "../../core/use-cases/log/log-standing.ts";
import packageJson from "../../package.json";
import type { StoreCorrupt, StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { BackupRefused } from "./backup-refused.ts";
import {
  filesOfRound,
  INDEX_FILE,
  isKey,
  linksIn,
  LOCAL_LEDGER_FILE,
  namedKeys,
  ROUNDS,
  STANDING_PATH,
  STORE_FILES,
} from "./data-files.ts";
import { filesBelow, isMissing, type Manifest, syncFile, writeManifest } from "./manifest.ts";

/** A backup that was made: its manifest, and the SHA-256 of the manifest's file. */
export type Backed = { readonly manifest: Manifest; readonly digest: Hash32 };

const onStore = async <A>(
  work: Effect.Effect<A, StoreUnavailable | StoreCorrupt>,
  path: string,
): Promise<A> => {
  const exit = await Effect.runPromiseExit(work);
  if (Exit.isSuccess(exit)) return exit.value;
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
  if (failure === undefined) throw Cause.squash(exit.cause);
  throw path === LOCAL_LEDGER_FILE
    ? new BackupRefused(
        "ledger_in_use",
        "the embedded ledger's file is open for its process alone",
        "Stop the service, and run this command again",
      )
    : new BackupRefused("store_unusable", failure.message.replace(/\.$/, ""), "Mend that first");
};

/** Copies a file that is replaced whole where it changes. One that is gone by now is left out. */
const copyPlain = async (from: string, to: string): Promise<void> => {
  try {
    await copyFile(from, to);
  } catch (cause) {
    if (isMissing(cause)) return;
    throw cause;
  }
  await chmod(to, 0o600);
  await syncFile(to);
};

/** Copies a store's file as one transaction sees it. */
const copyWhole = async (path: string, from: string, to: string): Promise<void> => {
  await onStore(copyStore(from, to), path);
  await chmod(to, 0o600);
  await syncFile(to);
};

/** @throws BackupRefused where something stands at a folder's place already. */
export const refuseFull = async (folder: string, cure: string): Promise<void> => {
  const names = await readdir(folder).catch((cause: unknown) => {
    if (isMissing(cause)) return [];
    throw cause;
  });
  if (names.length > 0) throw new BackupRefused("target_not_empty", `${folder} is not empty`, cure);
};

/** @throws BackupRefused for a link in a data directory: what it leads to would be missing in a backup. */
export const refuseLinks = async (dataDir: string): Promise<void> => {
  const [link] = await linksIn(dataDir);
  if (link !== undefined)
    throw new BackupRefused(
      "link_in_data",
      `${join(dataDir, link)} is a symbolic link, which a backup does not follow`,
      "Put the file or folder itself there, or name a key's place by its setting",
    );
};

/**
 * Has work fill a folder that nobody sees under its name before it is whole: it is renamed at the end. What fails
 * leaves nothing; a process that is killed leaves a folder with another name.
 */
export const filledWhole = async <A>(
  folder: string,
  work: (draft: string) => Promise<A>,
): Promise<A> => {
  await makeFolderDurably(dirname(folder));
  const draft = await mkdtemp(`${folder}.unfinished-`);
  try {
    const outcome = await work(draft);
    await syncFolder(draft);
    await rename(draft, folder);
    await syncFolder(dirname(folder));
    return outcome;
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw cause;
  }
};

/** The head that the standing in a copy says was signed last. */
const logIn = (text: string | null): Manifest["log"] => {
  const signed = text === null ? undefined : parseLogStanding(text)?.signed;
  return signed === undefined
    ? null
    : { origin: signed.origin, size: signed.size, root: signed.root };
};

/** What the manifest says of copied stores. */
const toldByCopies = async (folder: string): Promise<Pick<Manifest, "ledger" | "log">> => {
  const [index, standing] = [join(folder, INDEX_FILE), join(folder, STANDING_PATH)];
  return {
    ledger: existsSync(index) ? await onStore(identityOfCopy(index), INDEX_FILE) : null,
    log: logIn(
      existsSync(standing) ? await onStore(standingOfCopy(standing), STANDING_PATH) : null,
    ),
  };
};

/** Dumps what data or keys hold of a database into a folder, and says what it is. */
export type DumpDatabase = (
  folder: string,
  holds: Manifest["holds"],
) => Promise<
  Pick<Manifest, "database" | "ledger" | "schema"> & { readonly standing: string | null }
>;

/**
 * Backs up a data directory, and the database where there is one, while the service runs. No key goes into it, under
 * whatever name. The folder must not be there, or be empty; it appears once it is whole.
 */
export const backUpData = async (
  dataDir: string,
  to: string,
  dump: DumpDatabase | null,
): Promise<Backed> => {
  const made_at = new Date().toISOString();
  return filledWhole(to, async (draft) => {
    for (let round = 0; round < ROUNDS; round++)
      for (const path of await filesOfRound(dataDir, round)) {
        const [from, copy] = [join(dataDir, path), join(draft, path)];
        if (await isKey(from)) continue;
        await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
        await (STORE_FILES.has(path) ? copyWhole(path, from, copy) : copyPlain(from, copy));
      }
    const { standing, ...dumped } = (await dump?.(draft, "data")) ?? { standing: null };
    if ((await filesBelow(draft)).length === 0)
      throw new BackupRefused(
        "nothing_to_back_up",
        `${dataDir} holds nothing`,
        "Name the service's DATA_DIR with --data-dir",
      );
    const told = await toldByCopies(draft);
    const log = told.log ?? logIn(standing);
    const service = packageJson.version;
    return writeManifest(draft, {
      holds: "data",
      made_at,
      service,
      schema: SCHEMA_VERSION,
      database: null,
      ...told,
      ...dumped,
      log,
    });
  });
};

/**
 * Copies the keys of a data directory and of the settings into a folder of their own, for its user alone, under the
 * names that they have in a data directory, and the webhooks of the database where there is one.
 */
export const backUpKeys = async (
  dataDir: string,
  to: string,
  env: Readonly<Record<string, string | undefined>>,
  dump: DumpDatabase | null,
): Promise<Backed> => {
  const made_at = new Date().toISOString();
  return filledWhole(to, async (draft) => {
    const keys = new Map<string, string>();
    for (let round = 0; round < ROUNDS; round++)
      for (const path of await filesOfRound(dataDir, round))
        if (await isKey(join(dataDir, path))) keys.set(path, join(dataDir, path));
    for (const { from, to: name, isKey: isNeeded } of namedKeys(env)) {
      if (isNeeded && !existsSync(resolve(from)))
        throw new BackupRefused(
          "key_missing",
          `${from} is not there, and a setting names it as a key`,
          "Correct the setting, or put the key there",
        );
      keys.set(name, resolve(from));
    }
    for (const [name, from] of keys) {
      const copy = join(draft, name);
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
      await (STORE_FILES.has(name) ? copyWhole(name, from, copy) : copyPlain(from, copy));
    }
    const dumped = await dump?.(draft, "keys");
    return writeManifest(draft, {
      holds: "keys",
      made_at,
      service: packageJson.version,
      schema: dumped?.schema ?? SCHEMA_VERSION,
      database: dumped?.database ?? null,
      ledger: null,
      log: null,
    });
  });
};
