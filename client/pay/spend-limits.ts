import { formatUnits } from "../../core/domain/amount.ts";
import { SettlementError } from "../settlement-error.ts";
import type { PaymentTerms } from "./payment-terms.ts";
import { unitsOf } from "./units.ts";

/** One payment that was allowed, kept before anything is signed. */
export type SpendEntry = {
  readonly escrow: string;
  readonly mint: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** When it was allowed, RFC 3339. */
  readonly at: string;
};

/** Where allowed payments are kept. `add` resolves when the entry would survive the end of the process. */
export type SpendJournal = {
  readonly entries: () => Promise<ReadonlyArray<SpendEntry>>;
  readonly add: (entry: SpendEntry) => Promise<void>;
};

/** What may be spent. A payment beyond it is refused before anything is signed. */
export type SpendLimits = {
  /** The most of one payment, decimal. */
  readonly maxPerEscrow?: string;
  /** The most of all payments in one mint within 24 hours, decimal. */
  readonly maxPerDay?: string;
  /** The wallets that may be paid; any when left out. */
  readonly merchants?: ReadonlyArray<string>;
  /** Where payments of the last day are kept; in memory when left out, so that a new process begins at zero. */
  readonly journal?: SpendJournal;
};

const DAY_MS = 86_400_000;

/** A journal that ends with the process. */
export const memoryJournal = (): SpendJournal => {
  const kept: Array<SpendEntry> = [];
  return {
    entries: () => Promise.resolve([...kept]),
    add: (entry) => {
      kept.push(entry);
      return Promise.resolve();
    },
  };
};

const refuse = (detail: string): never => {
  throw new SettlementError(
    "spend_refused",
    detail,
    "Nothing was signed. Raise the limit if this payment is meant.",
  );
};

/** The most that was allowed for each escrow: of several payments with its nonce at most one is made. */
const mostByEscrow = (entries: ReadonlyArray<SpendEntry>): Map<string, bigint> => {
  const most = new Map<string, bigint>();
  for (const { escrow, amount } of entries) {
    const units = BigInt(amount);
    if (units > (most.get(escrow) ?? 0n)) most.set(escrow, units);
  }
  return most;
};

/**
 * A function that allows a payment under the limits, or throws `spend_refused`. The same escrow counts once, with the most that was allowed for it,
 * however often it is run. Calls are judged one after another.
 */
export const spendGuard = (
  limits: SpendLimits,
  nowMs: () => number = Date.now,
): ((terms: PaymentTerms) => Promise<void>) => {
  const journal = limits.journal ?? memoryJournal();
  let last: Promise<void> = Promise.resolve();

  const judge = async (terms: PaymentTerms): Promise<void> => {
    const { amount, mint, merchant, escrow } = terms;
    const shown = (units: bigint) => `${formatUnits(units, mint.decimals)} ${mint.symbol}`;
    if (limits.merchants !== undefined && !limits.merchants.includes(merchant))
      refuse(`${merchant} is not among the merchants that may be paid.`);
    if (limits.maxPerEscrow !== undefined && amount > unitsOf(limits.maxPerEscrow, mint.decimals))
      refuse(`${shown(amount)} is more than ${limits.maxPerEscrow} of one payment.`);
    if (limits.maxPerDay === undefined) return;
    const now = nowMs();
    const entries = await journal.entries();
    const lastDay = entries.filter(
      (entry) => entry.mint === mint.address && Date.parse(entry.at) > now - DAY_MS,
    );
    const kept = mostByEscrow(lastDay);
    const own = kept.get(escrow) ?? 0n;
    if (own >= amount) return;
    kept.delete(escrow);
    const spent = [...kept.values()].reduce((sum, units) => sum + units, 0n);
    if (spent + amount > unitsOf(limits.maxPerDay, mint.decimals))
      refuse(`${shown(amount)} on top of ${shown(spent)} is more than ${limits.maxPerDay} a day.`);
    await journal.add({
      escrow,
      mint: mint.address,
      amount: amount.toString(),
      at: new Date(now).toISOString(),
    });
  };

  return (terms) => {
    const mine = last.then(() => judge(terms));
    last = mine.catch(() => undefined);
    return mine;
  };
};
