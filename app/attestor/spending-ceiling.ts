import { readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { formatUnits, parseAmount } from "../../core/domain/amount.ts";
import type { SupportedMint } from "../../core/domain/supported-mint.ts";
import { placeFile } from "../../client/node/place-file.ts";
import { unitsOf } from "../../client/pay/units.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import type { Rules } from "./rules.ts";

/** What one escrow takes from the ceiling. */
type Spent = {
  readonly escrow: string;
  readonly mint: string;
  readonly amount: string;
  readonly at: string;
};

const DAY_MS = 86_400_000;
const SUFFIX = ".json";

/** The escrow of a file's name, which ends at the first dot: an address has none. */
const escrowOf = (name: string): string => name.slice(0, name.indexOf("."));

const spentOf = (text: string, name: string): Spent => {
  try {
    return { ...(JSON.parse(text) as Omit<Spent, "escrow">), escrow: escrowOf(name) };
  } catch (cause) {
    throw new SettlementError(
      "journal_damaged",
      `${name} holds no entry, so what was spent is not known.`,
      "Nothing was signed. Restore the file from a copy.",
      { cause },
    );
  }
};

/** The oldest entry of each escrow in a folder. @throws SettlementError `journal_damaged` for a file that holds none. */
const spentIn = async (folder: string): Promise<ReadonlyArray<Spent>> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
  const texts = await Promise.all(
    names.map((name) =>
      readFile(join(folder, name), "utf8").catch((cause: unknown) => {
        // Given back by another process meanwhile.
        if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return null;
        throw cause;
      }),
    ),
  );
  const all = texts.flatMap((text, i) =>
    text === null ? [] : [spentOf(text, names[i] ?? folder)],
  );
  const newestFirst = all.sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  return [...new Map(newestFirst.map((each) => [each.escrow, each])).values()];
};

/**
 * Takes an escrow's amount from the ceiling: null when that is within it, otherwise why it is not. Entries are files in a folder, made before
 * anything is counted, so that processes at once and a kill -9 can never exceed the ceiling. An escrow counts once, for 24 hours. Each call makes an
 * entry of its own and takes back no other, because another process may have been allowed the same escrow.
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
    const entry: Omit<Spent, "escrow"> = {
      mint: address,
      amount: amount.toString(),
      at: new Date(now).toISOString(),
    };
    const path = join(folder, `${escrow}.${crypto.randomUUID()}${SUFFIX}`);
    await placeFile(path, folder, `${JSON.stringify(entry)}\n`);
    const sum = (await spentIn(folder))
      .filter((each) => each.mint === address && Date.parse(each.at) > now - DAY_MS)
      .reduce((total, each) => total + (parseAmount(each.amount) ?? 0n), 0n);
    if (sum <= unitsOf(perDay, decimals)) return null;
    await unlink(path);
    return `${shown(amount)} would make ${shown(sum)} within a day, more than the ceiling of ${perDay}`;
  };
