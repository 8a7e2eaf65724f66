import { Database } from "bun:sqlite";
import { constants } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** How often the lock is tried while another process holds it, and the wait between two tries, milliseconds. */
const TRIES = 100;
const TRY_AGAIN_MS = 20;

const isHeld = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && String(cause.code).startsWith("SQLITE_BUSY");

const take = async (lock: Database): Promise<void> => {
  for (let tries = 1; ; tries++)
    try {
      lock.run("BEGIN EXCLUSIVE");
      return;
    } catch (cause) {
      if (!isHeld(cause) || tries === TRIES) throw cause;
      await Bun.sleep(TRY_AGAIN_MS);
    }
};

/**
 * Runs work while nobody else holds the lock of a file, which is made where there is none. The lock is SQLite's own on
 * an empty database: the system takes it back when a process ends in any way, so that none is left behind. Rejects when
 * another one holds it for two seconds.
 */
export const withFileLock = async <A>(path: string, work: () => Promise<A>): Promise<A> => {
  const lock = new Database(path, { create: true });
  try {
    await take(lock);
    return await work();
  } finally {
    lock.close();
  }
};

/** Makes the names in a folder durable. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/**
 * Replaces a file's content: a draft beside it, synced, renamed. The name is durable once `syncFolder` has synced its
 * folder. One writer at a time.
 */
export const replaceFile = async (
  path: string,
  content: string | Uint8Array,
  mode = 0o644,
): Promise<void> => {
  const draft = `${path}.new`;
  const file = await open(draft, "w", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
};

/** Writes a file so that it is either as before or complete, also after a power cut. One writer at a time. */
export const writeDurably = async (
  path: string,
  content: string | Uint8Array,
  mode?: number,
): Promise<void> => {
  await replaceFile(path, content, mode);
  await syncFolder(dirname(path));
};

/** Whether its user may not read a folder, as that of another one's home. */
const isClosed = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "EACCES";

/**
 * Makes a folder, with those above it, so that it is there after a power cut. A folder above it that the user may not
 * read cannot be synced; mostly somebody else has made what is in it.
 */
export const makeFolderDurably = async (path: string): Promise<void> => {
  const first = resolve((await mkdir(path, { recursive: true })) ?? path);
  for (let made = resolve(path); ; made = dirname(made)) {
    await syncFolder(dirname(made)).catch((cause: unknown) => {
      if (!isClosed(cause)) throw cause;
    });
    if (made === first || made === dirname(made)) return;
  }
};

/** The text of a file, null when there is none. Rejects for any other failure. */
export const readIfThere = async (path: string): Promise<string | null> => {
  try {
    const file = await open(path, constants.O_RDONLY);
    try {
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
    throw cause;
  }
};
