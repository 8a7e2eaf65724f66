import { constants } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

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
export const writeDurably = async (path: string, text: string, mode?: number): Promise<void> => {
  await replaceFile(path, text, mode);
  await syncFolder(dirname(path));
};

/** Makes a folder, with those above it, so that it is there after a power cut. */
export const makeFolderDurably = async (path: string): Promise<void> => {
  await mkdir(path, { recursive: true });
  await syncFolder(dirname(path));
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
