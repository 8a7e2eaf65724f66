import { mkdir, open, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { SpendEntry, SpendJournal } from "../pay/spend-limits.ts";
import { SettlementError } from "../settlement-error.ts";
import { codeOf } from "./error-code.ts";

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
 * A journal in a file, a line for each payment, only its owner's to read. An entry is on disk before its payment is signed. A last line that a crash cut off
 * counts for nothing, since nothing was signed for it; any other line that cannot be read stops every payment, because a limit over an unknown sum is none.
 * One process at a time may pay by a journal. Its calls throw SettlementError `journal_unusable`.
 */
export const fileJournal = (path: string): SpendJournal => {
  const textNow = async (): Promise<string> => {
    try {
      return await readFile(path, "utf8");
    } catch (cause) {
      return codeOf(cause) === "ENOENT"
        ? ""
        : unusable(`${path} cannot be read (${codeOf(cause)}).`, "Name a file that you may read.");
    }
  };
  return {
    entries: async () => {
      const lines = (await textNow()).split("\n").slice(0, -1);
      return lines
        .filter((line) => line !== "")
        .map(
          (line, place) =>
            entryOf(line) ??
            unusable(
              `Line ${place + 1} of ${path} is no payment.`,
              "Correct the file, or name another once 24 hours have passed.",
            ),
        );
    },
    add: async (entry) => {
      try {
        await mkdir(dirname(path), { recursive: true });
        const text = await textNow();
        const file = await open(path, "a", 0o600);
        try {
          // What a crash cut off is cut off here, too, or the entry would stand behind it in one line.
          const kept = text.slice(0, text.lastIndexOf("\n") + 1);
          if (kept.length !== text.length) await file.truncate(Buffer.byteLength(kept));
          await file.writeFile(`${JSON.stringify(entry)}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
      } catch (cause) {
        if (cause instanceof SettlementError) throw cause;
        unusable(
          `${path} cannot be written (${codeOf(cause)}).`,
          "Name a file that you may write to.",
        );
      }
    },
  };
};
