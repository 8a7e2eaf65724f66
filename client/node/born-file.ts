import { open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { FILE_MODE, syncFolder } from "./file-journal.ts";
import { errorCode } from "./key-file.ts";

/** How far the ledger's clock and this machine's may be apart, seconds. */
const CLOCK_MARGIN = 60n;

/**
 * A sign of a file that a copy of it does not have: its number, and its birth or, where the file system keeps none, its
 * device. @throws the system's errors.
 * @example
 * import { createKeyFile, fileIdentity } from "settlement-evidence/node";
 *
 * await createKeyFile(`${folder}/a.key`);
 * (await fileIdentity(`${folder}/a.key`)) === (await fileIdentity(`${folder}/a.key`)); // => true
 */
export const fileIdentity = async (path: string): Promise<string> => {
  const { dev, ino, birthtimeNs } = await stat(path, { bigint: true });
  return birthtimeNs === 0n ? `${dev}:${ino}` : `${ino}-${birthtimeNs}`;
};

/**
 * Since when everything is kept in a place, in seconds since 1970: its making, or the moment that it was found to be a
 * restored copy. What was there before may have gone on elsewhere. A copy gets a minute more, because the ledger's
 * clock may be ahead. A new place gets a minute less, because that clock may be behind: its first sessions are opened
 * after it, by the ledger's time perhaps before.
 */
export const bornOf = (nowMs: number, isFresh: boolean): bigint =>
  BigInt(Math.floor(nowMs / 1000)) + (isFresh ? -CLOCK_MARGIN : CLOCK_MARGIN);

/**
 * Since when everything is kept in the place of the file `path`, by that file, which tells by its own identity whether
 * it is a copy. `isFresh` says whether the place has just been made. @throws the system's errors.
 */
export const bornByFile = async (
  path: string,
  nowMs: number,
  { isFresh, isRestored }: { readonly isFresh: boolean; readonly isRestored: boolean },
): Promise<bigint> => {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return "";
    throw cause;
  });
  const [born, identity] = text.trim().split(" ");
  if (!isRestored && born !== undefined && identity === (text && (await fileIdentity(path))))
    return BigInt(born);
  const now = bornOf(nowMs, isFresh && !isRestored);
  await keepBorn(path, now);
  return now;
};

/** Keeps since when everything is kept in a place, on disk when this resolves. @throws the system's errors. */
export const keepBorn = async (path: string, born: bigint): Promise<void> => {
  const draft = `${path}.new`;
  await unlink(draft).catch(() => undefined);
  const file = await open(draft, "wx", FILE_MODE);
  try {
    // A rename keeps number and birth.
    await file.writeFile(`${born} ${await fileIdentity(draft)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
};
