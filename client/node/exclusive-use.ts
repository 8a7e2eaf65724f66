import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { SettlementError } from "../settlement-error.ts";
import { FILE_MODE, FOLDER_MODE } from "./file-journal.ts";
import { errorCode } from "./key-file.ts";

/** SQLite's binding in Node 22.13 and later, Bun and Deno. Node 20 has none. */
const database = async () => {
  try {
    return (await import("node:sqlite")).DatabaseSync;
  } catch (cause) {
    throw new SettlementError(
      "store_unusable",
      "Sessions in files need node:sqlite, by which one process holds them.",
      "Run it in Node 22.13 or later, or in Bun.",
      { cause },
    );
  }
};

/**
 * Holds what `path` stands for, for this process alone, until the function that it gives is called or the process ends
 * in whatever way. The hold is SQLite's lock of an empty file: the one kind that every runtime has and that the system
 * releases at a kill. @throws SettlementError `store_in_use` while another process, or this one, holds it.
 */
export const useExclusively = async (path: string): Promise<() => void> => {
  const Database = await database();
  try {
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
    await (await open(path, "a", FILE_MODE)).close();
  } catch (cause) {
    throw new SettlementError(
      "store_unusable",
      `${path} cannot be written (${errorCode(cause)}).`,
      "Name a folder that you may write to.",
      { cause },
    );
  }
  const lock = new Database(path);
  try {
    lock.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    throw new SettlementError(
      "store_in_use",
      `Another process uses ${dirname(path)}.`,
      "End it, or share sessions between processes by SQLite or PostgreSQL.",
      { cause },
    );
  }
  return () => lock.close();
};
