import { Effect, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { HistoryPage } from "../../core/domain/ledger/history.ts";
import { type Ledger, LedgerUnavailable } from "../../ports/ledger/ledger.ts";

/** What a node shows instead of an account; null hides it. */
export type Lie = (account: LedgerAccount) => LedgerAccount | null;

/** The ledger's port over a node that lies about some accounts. */
export const lying = (
  port: Ledger["Service"],
  lies: ReadonlyMap<Address, Lie>,
): Ledger["Service"] => {
  const shown = (account: LedgerAccount | null): LedgerAccount | null => {
    const lie = account === null ? undefined : lies.get(account.address);
    return account === null || lie === undefined ? account : lie(account);
  };
  return {
    ...port,
    readAccounts: (...asked) =>
      Effect.map(port.readAccounts(...asked), ({ slot, value }) => ({
        slot,
        value: value.map(shown),
      })),
    programAccounts: (kind) =>
      Stream.map(port.programAccounts(kind), ({ slot, value }) => ({
        slot,
        value: value.map(shown).filter((account) => account !== null),
      })),
  };
};

/** The account with other bytes: `change` gets a copy of them. */
export const changed = (
  account: LedgerAccount,
  change: (data: Uint8Array) => void,
): LedgerAccount => {
  const data = account.data.slice();
  change(data);
  return { ...account, data };
};

const failure = () => new LedgerUnavailable({ retryable: true, cause: "made to fail" });

/**
 * A ledger whose `failAt`th answer is a failure. Counts the answer of each call, and each chunk and the end of a
 * stream, from 1. 0 lets all pass.
 */
export const countAnswers = () => {
  const state = { failAt: 0, count: 0 };
  const passes = () => ++state.count !== state.failAt;
  const checked = <A, E>(answer: Effect.Effect<A, E>) =>
    Effect.filterOrFail(answer, passes, failure);
  const checkedStream = <A, E>(stream: Stream.Stream<A, E>) =>
    stream.pipe(
      Stream.mapEffect((chunk) => checked(Effect.succeed(chunk))),
      Stream.concat(Stream.unwrap(checked(Effect.succeed(Stream.empty)))),
    );
  const wrap = (ledger: Ledger["Service"]): Ledger["Service"] => ({
    genesisHash: checked(ledger.genesisHash),
    confirmIdentity: checked(ledger.confirmIdentity),
    tip: (commitment) => checked(ledger.tip(commitment)),
    readAccounts: (...asked) => checked(ledger.readAccounts(...asked)),
    programAccounts: (...asked) => checkedStream(ledger.programAccounts(...asked)),
    history: (address, before) => checked(ledger.history(address, before)),
    transaction: (signature) => checked(ledger.transaction(signature)),
  });
  return { state, wrap };
};

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
