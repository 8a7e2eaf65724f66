import { access, constants, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SessionFolder } from "../sessions/agent/session-journal.ts";
import { SettlementError } from "../settlement-error.ts";
import { FOLDER_MODE } from "./file-journal.ts";
import { fileSession } from "./file-session.ts";
import { errorCode } from "./key-file.ts";

/** The hold of a process on a session's file is a file beside it. */
const isHold = (name: string): boolean => name.includes(".lock");

/** The sessions in the files of a folder. */
export const sessionFolder = (folder: string): SessionFolder => ({
  names: async () => {
    try {
      const entries = await readdir(folder, { withFileTypes: true });
      const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
      return names.filter((name) => !isHold(name)).toSorted();
    } catch (cause) {
      throw new SettlementError(
        "unreadable",
        `${folder} cannot be read (${errorCode(cause)}).`,
        "Name the folder of the sessions.",
      );
    }
  },
  take: (name) => fileSession(join(folder, name)),
});

/**
 * The same for a folder that is made, with room for its owner alone, where it is absent. @throws SettlementError
 * `store_unusable`
 */
export const madeSessionFolder = async (folder: string): Promise<SessionFolder> => {
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new SettlementError(
      "store_unusable",
      `${folder} cannot be used (${errorCode(cause)}).`,
      "Name a folder that you may write to.",
    );
  }
  return sessionFolder(folder);
};
