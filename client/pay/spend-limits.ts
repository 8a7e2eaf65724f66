import { formatUnits } from "../../core/domain/amount.ts";
import { SettlementError } from "../settlement-error.ts";
import { type PaymentTerms, unitsOf } from "./payment-terms.ts";

/** A payment's entry in the journal. It is written before anything is signed, and counts for a day. */
export type SpendEntry = {
  readonly escrow: string;
  readonly mint: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** When it was written, RFC 3339. */
  readonly at: string;
};

/**
 * Where payments are kept. `add` resolves once the entry would survive the end of the process. `entries` returns all
 * entries in the order in which they were added. Processes that share a journal see the same order.
 */
export type SpendJournal = {
  readonly entries: () => Promise<ReadonlyArray<SpendEntry>>;
  readonly add: (entry: SpendEntry) => Promise<void>;
};

/**
 * A limit of all payments in one mint within 24 hours. It needs a journal. Without one, each process would begin at
 * zero.
 */
type DayLimit =
  | {
      /** The most of all payments in one mint within 24 hours, decimal. */
      readonly maxPerDay: string;
      /**
       * Where payments of the last day are kept: `fileJournal` for every process that shares its file, `memoryJournal`
       * for this process alone.
       */
      readonly journal: SpendJournal;
    }
  | { readonly maxPerDay?: never; readonly journal?: SpendJournal };

/** What may be spent. A payment beyond it is refused before anything is signed. */
export type SpendLimits = DayLimit & {
  /** The most of one payment, decimal. */
  readonly maxPerEscrow?: string;
  /** The wallets that may be paid; any when left out. */
  readonly merchants?: ReadonlyArray<string>;
};

/** Milliseconds over which payments count. */
export const DAY_MS = 86_400_000;
/**
 * How long a journal entry covers repeated signing, milliseconds. A payment that is signed again later gets another
 * entry, because it can still land later.
 */
const PLACE_MS = 60_000;

/**
 * A journal that ends with the process.
 * @example
 * import { connect, memoryJournal } from "settlement-evidence";
 *
 * const journal = memoryJournal();
 * connect(service, { trust, spend: { maxPerDay: "20.00", journal } });
 * await journal.entries(); // => []
 */
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

/**
 * The sum of the largest amount of each escrow, base units. Of several payments with one nonce at most one is made.
 */
export const mostOfEach = (
  entries: ReadonlyArray<Pick<SpendEntry, "escrow" | "amount">>,
): bigint => {
  const most = new Map<string, bigint>();
  for (const { escrow, amount } of entries) {
    const units = BigInt(amount);
    if (units > (most.get(escrow) ?? 0n)) most.set(escrow, units);
  }
  return [...most.values()].reduce((sum, units) => sum + units, 0n);
};

/**
 * `spent`: what other payments wrote before this payment's first entry, or everything when it has no entry. `lastMs`:
 * when this payment's last entry was written, milliseconds since 1970; minus infinity without one.
 */
const spentBefore = (
  entries: ReadonlyArray<SpendEntry>,
  escrow: string,
  amount: bigint,
): { readonly spent: bigint; readonly lastMs: number } => {
  const isOwn = (each: SpendEntry) => each.escrow === escrow && BigInt(each.amount) >= amount;
  const own = entries.findIndex(isOwn);
  const before = own === -1 ? entries : entries.slice(0, own);
  return {
    spent: mostOfEach(before.filter((each) => each.escrow !== escrow)),
    lastMs: Math.max(...entries.filter(isOwn).map(({ at }) => Date.parse(at))),
  };
};

/**
 * Returns a function that allows a payment under the limits, or throws `spend_refused`. An escrow counts once, with its
 * largest amount. A payment is written to the journal first, and the entries before it are counted afterwards. So
 * processes that share a journal never exceed the limit together, even when one is killed. Calls of one process are
 * judged one after another. @throws SettlementError `invalid_spend` for a limit of a day without a journal
 */
export const spendGuard = (
  limits: SpendLimits,
  nowMs: () => number = Date.now,
): ((terms: PaymentTerms) => Promise<void>) => {
  const { maxPerDay, journal } = limits;
  // Programs in plain JavaScript can get here.
  if (maxPerDay !== undefined && journal === undefined)
    throw new SettlementError(
      "invalid_spend",
      "spend has maxPerDay and no journal, so that each run of the program would begin at zero.",
      'Give journal: fileJournal("payments.jsonl") of settlement-evidence/node.',
    );
  let last: Promise<void> = Promise.resolve();

  const judge = async (terms: PaymentTerms): Promise<void> => {
    const { amount, mint, merchant, escrow } = terms;
    const shown = (units: bigint) => `${formatUnits(units, mint.decimals)} ${mint.symbol}`;
    if (limits.merchants !== undefined && !limits.merchants.includes(merchant))
      refuse(`${merchant} is not among the merchants that may be paid.`);
    if (limits.maxPerEscrow !== undefined && amount > unitsOf(limits.maxPerEscrow, mint.decimals))
      refuse(`${shown(amount)} is more than ${limits.maxPerEscrow} of one payment.`);
    if (maxPerDay === undefined) return;
    const most = unitsOf(maxPerDay, mint.decimals);
    const now = nowMs();
    const hasPlaceWithin = async (): Promise<boolean> => {
      const lastDay = (await journal.entries()).filter(
        (entry) => entry.mint === mint.address && Date.parse(entry.at) > now - DAY_MS,
      );
      const { spent, lastMs } = spentBefore(lastDay, escrow, amount);
      if (spent + amount > most)
        refuse(`${shown(amount)} on top of ${shown(spent)} is more than ${maxPerDay} a day.`);
      return lastMs > now - PLACE_MS;
    };
    // Checked first, so that a payment beyond the limit leaves no entry.
    if (await hasPlaceWithin()) return;
    await journal.add({
      escrow,
      mint: mint.address,
      amount: amount.toString(),
      at: new Date(now).toISOString(),
    });
    if (await hasPlaceWithin()) return;
    throw new SettlementError(
      "journal_unusable",
      "The journal does not show the payment that was added to it.",
      "Nothing was signed. Give a journal whose entries hold what add has kept.",
    );
  };

  return (terms) => {
    const mine = last.then(() => judge(terms));
    last = mine.catch(() => undefined);
    return mine;
  };
};
