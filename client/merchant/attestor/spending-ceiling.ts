import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { formatUnits, parseAmount } from "../../../core/domain/amount.ts";
import type { SupportedMint } from "../../../core/domain/supported-mint.ts";
import { errorCode } from "../../node/key-file.ts";
import { placeFile } from "../../node/file-journal.ts";
import { unitsOf } from "../../pay/payment-terms.ts";
import { DAY_MS, mostOfEach } from "../../pay/spend-limits.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { Rules } from "./rules.ts";

/** What one escrow takes from the ceiling, in a file of its own. */
type Spent = {
  readonly path: string;
  readonly escrow: string;
  readonly mint: string;
  readonly amount: string;
  readonly at: string;
};

/** A clock that was a few days ahead and is set right again finds what was spent. */
const KEPT_MS = 7 * DAY_MS;
const SUFFIX = ".json";

/** The escrow of a file's name, which ends at the first dot: an address has none. */
const escrowOf = (name: string): string => name.slice(0, name.indexOf("."));

/**
 * The entry in a file's text. @throws SettlementError `journal_damaged` for anything else, since what was spent is not
 * known then.
 */
const spentOf = (text: string, folder: string, name: string): Spent => {
  try {
    const entry = JSON.parse(text) as Omit<Spent, "escrow" | "path">;
    if (parseAmount(entry.amount) === undefined || Number.isNaN(Date.parse(entry.at)))
      throw new Error("without amount or time");
    return { ...entry, escrow: escrowOf(name), path: join(folder, name) };
  } catch (cause) {
    throw new SettlementError(
      "journal_damaged",
      `${name} holds no entry, so what was spent is not known.`,
      "Nothing was signed. Restore the file from a copy.",
      { cause },
    );
  }
};

/** Every entry in a folder. @throws SettlementError `journal_damaged` for a file that holds none. */
const spentIn = async (folder: string): Promise<ReadonlyArray<Spent>> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
  const all = await Promise.all(
    names.map((name) =>
      readFile(join(folder, name), "utf8").then(
        (text) => spentOf(text, folder, name),
        (cause: unknown) => {
          // Given back or removed by another process meanwhile.
          if (errorCode(cause) === "ENOENT") return null;
          throw cause;
        },
      ),
    ),
  );
  return all.filter((each) => each !== null);
};

/** Removes entries that count no more. One that stays costs space only. */
const remove = (entries: ReadonlyArray<Spent>): Promise<unknown> =>
  Promise.allSettled(entries.map(({ path }) => unlink(path)));

/**
 * Takes an escrow's amount from the ceiling: null when that is within it, otherwise why it is not. Entries are files in
 * a folder, made before anything is counted, so that processes at once and a kill -9 can never exceed the ceiling. An
 * escrow counts once, until 24 hours after it was last allowed. Each call makes an entry of its own and takes back no
 * other of the day, because another process may have been allowed the same escrow. Entries leave the folder after seven
 * days.
 */
export const spendingCeiling =
  (
    folder: string,
    { per_escrow: perEscrow, per_day: perDay }: Rules["ceiling"],
    nowMs = Date.now,
  ) =>
  async (escrow: string, mint: SupportedMint, amount: bigint): Promise<string | null> => {
    const { decimals, symbol, address } = mint;
    const shown = (units: bigint) => `${formatUnits(units, decimals)} ${symbol}`;
    if (amount > unitsOf(perEscrow, decimals))
      return `${shown(amount)} is more than the ceiling of one escrow, ${perEscrow}`;
    const now = nowMs();
    const entry: Omit<Spent, "escrow" | "path"> = {
      mint: address,
      amount: amount.toString(),
      at: new Date(now).toISOString(),
    };
    const path = join(folder, `${escrow}.${crypto.randomUUID()}${SUFFIX}`);
    await placeFile(path, folder, `${JSON.stringify(entry)}\n`);
    const all = await spentIn(folder);
    await remove(all.filter(({ at }) => Date.parse(at) < now - KEPT_MS));
    const sum = mostOfEach(
      all.filter((each) => each.mint === address && Date.parse(each.at) > now - DAY_MS),
    );
    if (sum <= unitsOf(perDay, decimals)) return null;
    await unlink(path);
    return `${shown(amount)} would make ${shown(sum)} within a day, more than the ceiling of ${perDay}`;
  };
