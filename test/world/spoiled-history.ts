import { Effect } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { HistoryPage } from "../../core/domain/ledger/history.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";

/** The faults of a page of an address's history. */
export const PAGE_FAULTS = ["missing", "reordered", "duplicated", "repeated", "late"] as const;
export type PageFault = (typeof PAGE_FAULTS)[number];

/** Short pages, so that few transactions fill several. */
const PAGE = 5;
/** Slots for which a node may list an executed transaction late. Less than the overlap that a sync reads again. */
const LATENESS = 40n;

const pageOf = ({ entries, keptFrom }: HistoryPage): HistoryPage => ({
  entries: entries.slice(0, PAGE),
  keptFrom,
});

const withoutNewest = ({ entries, keptFrom }: HistoryPage): HistoryPage => {
  const newest = entries[0]?.slot ?? 0n;
  return { entries: entries.filter(({ slot }) => slot + LATENESS < newest), keptFrom };
};

/**
 * A ledger whose history comes in pages of five, each with the fault that `faultOf` draws. The first page can only be
 * late, unordered or double. An empty first page would mean that nothing has happened.
 */
export const spoilHistory =
  (faultOf: (isFirst: boolean) => PageFault | null) =>
  (ledger: Ledger["Service"]): Ledger["Service"] => {
    const lastPages = new Map<Address, HistoryPage>();
    return {
      ...ledger,
      history: (address, before) =>
        Effect.map(ledger.history(address, before), (whole) => {
          const fault = faultOf(before === null);
          const page = pageOf(fault === "late" ? withoutNewest(whole) : whole);
          const last = before === null ? page : (lastPages.get(address) ?? page);
          lastPages.set(address, page);
          const { entries, keptFrom } = page;
          if (fault === "missing") return { entries: [], keptFrom };
          if (fault === "repeated") return last;
          if (fault === "reordered") return { entries: entries.toReversed(), keptFrom };
          if (fault === "duplicated") return { entries: [...entries, ...entries], keptFrom };
          return page;
        }),
    };
  };
