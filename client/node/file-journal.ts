import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import process from "node:process";
import type { SpendEntry, SpendJournal } from "../pay/spend-limits.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./key-file.ts";

/**
 * Waits until a folder's entries are on disk. Windows opens no folders, and needs no such call. @throws the system's
 * errors.
 */
export const syncFolder = async (path: string): Promise<void> => {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

/** Files that only their owner may read and write. */
export const FILE_MODE = 0o600;
/** Folders that only their owner may enter. */
export const FOLDER_MODE = 0o700;

/** The folders from the one of `path` up to `root`, and the one above it, whose entry `root` is. */
const foldersUpTo = (path: string, root: string): ReadonlyArray<string> => {
  const folder = dirname(path);
  return path === root ? [folder] : [folder, ...foldersUpTo(folder, root)];
};

/**
 * Whether this call has made the file at `path`, below the folder `root`; false when there is one, which stays as it
 * is. The file appears complete or not at all, also after kill -9, and is on disk when this resolves, whoever has made
 * it: a hard link refuses a name that is taken, and of two processes one gets it. @throws the system's errors.
 */
export const placeFile = async (path: string, root: string, text: string): Promise<boolean> => {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const draft = `${path}.${crypto.randomUUID()}.new`;
  const file = await open(draft, "wx", FILE_MODE);
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

const unusable = (detail: string, cure: string): never => {
  throw new SettlementError("journal_unusable", detail, cure);
};

const isEntry = (value: unknown): value is SpendEntry =>
  typeof value === "object" &&
  value !== null &&
  ["escrow", "mint", "amount", "at"].every(
    (name) => typeof (value as Record<string, unknown>)[name] === "string",
  ) &&
  /^[0-9]{1,20}$/.test((value as SpendEntry).amount) &&
  !Number.isNaN(Date.parse((value as SpendEntry).at));

const entryOf = (line: string): SpendEntry | undefined => {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Marks a line that a crash cut off. It cannot be part of JSON (RFC 8259, section 7). Such a line is ignored, because
 * nothing was signed for it.
 */
const CUT_OFF = "\u0018";

/**
 * The entries of a journal's text. A last line without its end is one that a crash cut off, or that another process is
 * writing.
 */
const entriesIn = (text: string, path: string): ReadonlyArray<SpendEntry> =>
  text
    .split("\n")
    .slice(0, -1)
    .flatMap((line, place) =>
      line === "" || line.endsWith(CUT_OFF)
        ? []
        : [
            entryOf(line) ??
              unusable(
                `Line ${place + 1} of ${path} is no payment.`,
                "Correct the file, or name another once 24 hours have passed.",
              ),
          ],
    );

/**
 * Appends a line by one write, which no write of another process divides (POSIX, `O_APPEND`), and waits until it is on
 * disk.
 */
const append = async (path: string, text: string, line: string): Promise<void> => {
  const file = await open(path, "a", 0o600);
  try {
    const isWhole = text === "" || text.endsWith("\n");
    const bytes = new TextEncoder().encode(`${isWhole ? "" : `${CUT_OFF}\n`}${line}\n`);
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten !== bytes.length) unusable(`${path} took a part of a line.`, "Make room.");
    await file.sync();
  } finally {
    await file.close();
  }
};

/**
 * A journal in a file that only its owner can read, one line for each payment. An entry is on disk before its payment
 * is signed. A line that a crash cut off is ignored, because nothing was signed for it. Any other damaged line stops
 * all payments, because the sum is then unknown. Processes of one machine may share the file. There is no lock, so a
 * process that is killed does not block others. Its calls throw SettlementError `journal_unusable`.
 * @example
 * import { connect } from "settlement-evidence";
 * import { fileJournal } from "settlement-evidence/node";
 *
 * const journal = fileJournal(`${folder}/payments`);
 * connect(service, { trust, spend: { maxPerDay: "20.00", journal } });
 * await journal.entries(); // => []
 */
export const fileJournal = (path: string): SpendJournal => {
  const textNow = async (): Promise<string> => {
    try {
      return await readFile(path, "utf8");
    } catch (cause) {
      return errorCode(cause) === "ENOENT"
        ? ""
        : unusable(
            `${path} cannot be read (${errorCode(cause)}).`,
            "Name a file that you may read.",
          );
    }
  };
  return {
    entries: async () => entriesIn(await textNow(), path),
    add: async (entry) => {
      try {
        await mkdir(dirname(path), { recursive: true });
        await append(path, await textNow(), JSON.stringify(entry));
        await syncFolder(dirname(path));
      } catch (cause) {
        if (cause instanceof SettlementError) throw cause;
        unusable(
          `${path} cannot be written (${errorCode(cause)}).`,
          "Name a file that you may write to.",
        );
      }
    },
  };
};
