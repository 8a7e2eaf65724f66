import { constants } from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file so that it is either as before or complete, also after a power cut: a draft beside it, synced, renamed,
 * and the folder synced. One writer at a time.
 */
export const writeDurably = async (path: string, text: string): Promise<void> => {
  const draft = `${path}.new`;
  const file = await open(draft, "w", 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncFolder(dirname(path));
};

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
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
