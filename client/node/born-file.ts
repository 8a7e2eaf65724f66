import { open, readFile, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { NOT_BEGUN } from "../sessions/store/session-store.ts";
import { FILE_MODE, syncFolder } from "./file-journal.ts";
import { errorCode } from "./key-file.ts";

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
 * Since when everything is kept in the place of the file `path`, in seconds of the ledger, by that file, which tells by
 * its own identity whether it is a copy. What was there before may have gone on elsewhere. `NOT_BEGUN` in a new place,
 * and in a copy, or what the caller says is one. @throws the system's errors.
 */
export const bornByFile = async (path: string, isRestored: boolean): Promise<bigint> => {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return "";
    throw cause;
  });
  const [born, identity] = text.trim().split(" ");
  if (!isRestored && born !== undefined && identity === (text && (await fileIdentity(path))))
    return BigInt(born);
  await keepBorn(path, NOT_BEGUN);
  return NOT_BEGUN;
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
