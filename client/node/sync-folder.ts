import { open } from "node:fs/promises";
import process from "node:process";

/** Waits until a folder's entries are on disk. Windows opens no folders, and needs no such call. @throws the system's errors. */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};
