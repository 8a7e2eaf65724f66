import { Database } from "bun:sqlite";

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
 * Runs work while nobody else holds the lock of a file, which is made where there is none. The lock is SQLite's own on an empty
 * database: the system takes it back when a process ends in any way, so that none is left behind. Rejects when another one
 * holds it for two seconds.
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
