import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { SpendEntry, SpendJournal } from "../pay/spend-limits.ts";
import { SettlementError } from "../settlement-error.ts";
import { errorCode } from "./error-code.ts";
import { syncFolder } from "./sync-folder.ts";

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

/** Ends a line that a crash cut off. It never stands in JSON (RFC 8259, section 7), and counts for nothing: nothing was signed for such a line. */
const CUT_OFF = "\u0018";

/** The entries of a journal's text. A last line without its end is one that a crash cut off, or that another process is writing. */
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

/** Appends a line by one write, which no write of another process divides (POSIX, `O_APPEND`), and waits until it is on disk. */
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
 * A journal in a file, a line for each payment, only its owner's to read. An entry is on disk before its payment is signed. A line that a crash cut off
 * counts for nothing, since nothing was signed for it; any other line that cannot be read stops every payment, because a limit over an unknown sum is none.
 * Processes of one machine may share the file; none locks it, so none that is killed stops another. Its calls throw SettlementError `journal_unusable`.
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
