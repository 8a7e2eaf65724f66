import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { errorCode } from "./error-code.ts";
import { syncFolder } from "./sync-folder.ts";

const MODE = 0o600;
const FOLDER_MODE = 0o700;

/** The folders from the one of `path` up to `root`, and the one above it, whose entry `root` is. */
const foldersUpTo = (path: string, root: string): ReadonlyArray<string> => {
  const folder = dirname(path);
  return path === root ? [folder] : [folder, ...foldersUpTo(folder, root)];
};

/**
 * Whether this call has made the file at `path`, below the folder `root`; false when there is one, which stays as it is. The file appears
 * complete or not at all, also after kill -9, and is on disk when this resolves, whoever has made it: a hard link refuses a name that is taken,
 * and of two processes one gets it. @throws the system's errors.
 */
export const placeFile = async (path: string, root: string, text: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const draft = `${path}.${crypto.randomUUID()}.new`;
  const file = await open(draft, "wx", MODE);
  let isMine = true;
  try {
    await file.writeFile(text);
    await file.sync();
    await link(draft, path).catch((cause: unknown) => {
      if (errorCode(cause) !== "EEXIST") throw cause;
      isMine = false;
    });
  } finally {
    await file.close();
    await unlink(draft);
  }
  for (const folder of foldersUpTo(path, root)) await syncFolder(folder);
  return isMine;
};
