import { Effect } from "effect";
import { Instance } from "../../../../../ports/instance.ts";
import type { ToldTransaction } from "../../../../../ports/ledger/ledger-signals.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import type { Address } from "../../../../domain/address.ts";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { HistoryEntry, LedgerTransaction } from "../../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { believedBytes } from "../../../../protocol/accounts/archived-escrow-account.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import {
  archivedBytesOf,
  touchedAccountsOf,
} from "../../../../protocol/transaction/transaction-effects.ts";
import { causesWithin, onlySlot, type Slots } from "../events/find-event-transactions.ts";
import type { HeldEvents } from "../events/held-events.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";
import { LAG_RETRIES, READ_AT_ONCE, readAccountsSince } from "./custody-tip.ts";
import type { SyncMemory } from "./sync-memory.ts";

/** The oldest transaction of a page and the next newer one. The page may be in any order. */
const oldestTwo = (entries: ReadonlyArray<HistoryEntry>): ReadonlyArray<HistoryEntry> => {
  const once = new Map(entries.map((entry) => [entry.signature, entry]));
  const newestFirst = [...once.values()].sort((a, b) =>
    a.slot > b.slot ? -1 : a.slot < b.slot ? 1 : 0,
  );
  return newestFirst.slice(-2).toReversed();
};

/**
 * Every transaction since slot `floor` that names one of the addresses, by signature. Reads on until a page reaches
 * below `floor` or brings nothing older. Null when the list may be incomplete: history begins later or has a gap, a
 * node repeats itself, or there are more than `most`. Pages may overlap and may be unordered.
 */
export const listHistory = Effect.fn("listHistory")(function* (
  addresses: ReadonlyArray<Address>,
  floor: bigint,
  most: number,
) {
  const ledger = yield* Ledger;
  const listed = new Map<LedgerSignature, HistoryEntry>();
  let count = 0;
  for (const address of addresses) {
    const own = new Set<LedgerSignature>();
    let before: LedgerSignature | null = null;
    let overlap: LedgerSignature | null = null;
    for (;;) {
      const page: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
        address,
        before,
        (shown) => shown.every(({ slot }) => slot >= floor),
      );
      const { entries, keptFrom } = page;
      const isKept = keptFrom !== null && keptFrom <= floor;
      if (entries.length === 0 && !isKept) return null;
      const has = (one: LedgerSignature) => entries.some(({ signature }) => signature === one);
      // What is listed after a signature does not hold it: this node's cursor does not move.
      if (before !== null && has(before)) return null;
      // The overlap proves that this node knows the order of both pages. A page without it, such as an empty one, may
      // come from a node that does not know the signature.
      if (overlap !== null && !has(overlap)) return null;
      const known = own.size;
      for (const { signature } of entries) own.add(signature);
      for (const entry of entries) if (entry.slot >= floor) listed.set(entry.signature, entry);
      const [oldest, second] = oldestTwo(entries);
      if (oldest === undefined || oldest.slot < floor) break;
      if (own.size === known || second === undefined) {
        // Only the overlap came, or a first page with one entry: there is nothing older.
        if (isKept) break;
        return null;
      }
      count += own.size - known;
      if (count > most) return null;
      before = second.signature;
      overlap = oldest.signature;
    }
  }
  return listed;
});

/** For a list of which nobody asks whether it is whole. */
export const START_UNNEEDED = (): boolean => false;

/** The most transactions kept. A longer catch-up is scanned (`worthReading`). */
const MOST_READ_AT_ONCE = 20_000;

/**
 * The finalized transactions that syncs have read since the last one that completed. A provider's limits can end every
 * sync of a burst: the next one goes on from what is kept, and does not ask for it again.
 */
export class ReadTransactions {
  readonly #read = new Map<LedgerSignature, LedgerTransaction>();

  /**
   * The transaction as it was read before, or as a node shows it now; null when the node does not. Fails like the
   * ledger.
   */
  readonly read = Effect.fnUntraced({ self: this }, function* (signature: LedgerSignature) {
    const known = this.#read.get(signature);
    if (known !== undefined) return known;
    const ledger = yield* Ledger;
    const shown = yield* ledger.transaction(signature);
    if (shown !== null && this.#read.size < MOST_READ_AT_ONCE) this.#read.set(signature, shown);
    return shown;
  });

  /** Forgets all of them. */
  forget(): void {
    this.#read.clear();
  }
}

/** The most transactions kept. Of more, the history or a scan must tell. */
const MOST_REMEMBERED = 4096;

/**
 * Transactions of which a node has told and that no sync has accounted for. They lead to accounts whose changes a
 * history does not list.
 */
export class ToldTransactions {
  /** By signature and the address named: a node tells of one that names both programs twice. */
  readonly #told = new Map<string, ToldTransaction>();

  /** Keeps a transaction, unless there are too many. */
  add(told: ToldTransaction): void {
    if (this.#told.size < MOST_REMEMBERED) this.#told.set(`${told.signature} ${told.names}`, told);
  }

  /** Every transaction that is kept, once for each address that it was told of, oldest told first. */
  all(): ReadonlyArray<ToldTransaction> {
    return [...this.#told.values()];
  }

  /** At most `limit` transactions that name an address, of slots up to `to`, oldest told first. */
  upTo(names: Address, to: bigint, limit: number): ReadonlyArray<ToldTransaction> {
    const found: Array<ToldTransaction> = [];
    for (const one of this.#told.values()) {
      if (found.length === limit) break;
      if (one.names === names && one.slot <= to) found.push(one);
    }
    return found;
  }

  /** Forgets transactions of an address that a history lists or that were read. */
  forget(names: Address, signatures: Iterable<LedgerSignature>): void {
    for (const signature of signatures) this.#told.delete(`${signature} ${names}`);
  }

  /** Forgets the transactions that name an address, of slots up to `to`: all its accounts of that slot are known. */
  forgetUpTo(names: Address, to: bigint): void {
    for (const [key, told] of this.#told)
      if (told.names === names && told.slot <= to) this.#told.delete(key);
  }
}

/** Concurrent transaction requests. */
const AT_ONCE = 8;
/** The most transactions that are read because a node told of them, and not because a history lists them. */
const MOST_TOLD = 256;

/**
 * Reads the accounts that transactions touched, and keeps the escrows among them that had events in the range. A
 * transaction is an event's only if it is shown in one of `slotsOf`.
 */
const holdTouched = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  held: HeldEvents,
  transactions: ReadonlyArray<LedgerTransaction>,
  slot: bigint,
  slotsOf: (transaction: LedgerTransaction) => Slots,
) {
  const { deployment } = yield* Instance;
  const touched = [...new Set(transactions.flatMap((one) => touchedAccountsOf(one, deployment)))];
  const shown: Array<ReadRows> = [];
  for (let at = 0; at < touched.length; at += READ_AT_ONCE) {
    const read = yield* readAccountsSince(touched.slice(at, at + READ_AT_ONCE), slot);
    const present = read.value.filter((account): account is LedgerAccount => account !== null);
    shown.push(accounts.decode(read.slot, present));
  }
  yield* holdShown(shown, held, transactions, slotsOf);
});

/**
 * Keeps the escrows among these rows that had events in the range, and refers these to the transactions that caused
 * them. A transaction is an event's only if it is shown in one of `slotsOf`.
 */
export const holdShown = Effect.fnUntraced(function* (
  shown: ReadonlyArray<ReadRows>,
  held: HeldEvents,
  transactions: ReadonlyArray<LedgerTransaction>,
  slotsOf: (transaction: LedgerTransaction) => Slots,
) {
  const { deployment } = yield* Instance;
  const offered = transactions.flatMap((one) => archivedBytesOf(one, deployment));
  for (const rows of shown) {
    for (const { escrow, data } of rows.escrows)
      if (held.concerns(escrow.createdSeq, escrow.settledSeq))
        held.add(indexedEscrowOf(escrow, data));
    for (const row of rows.unseen) {
      if (!held.concerns(row.createdSeq, row.settledSeq) || row.settledHash === null) continue;
      held.addUnseen(row);
      const lastHash = hash32FromBytes(row.settledHash);
      for (const { escrow, data } of offered) {
        if (escrow !== row.address) continue;
        const last = believedBytes(escrow, data, { lastHash }, deployment);
        if (last !== undefined) held.add(indexedEscrowOf(last.escrow, last.data));
      }
    }
  }
  for (const transaction of transactions)
    for (const cause of yield* causesWithin(transaction, slotsOf(transaction))) held.refer(cause);
});

/**
 * Reads the transactions of which a node told and that may have caused events that the history does not show, and keeps
 * the escrows that they touched. `slots` are above the last mark's, up to the tip's. Fails like the ledger.
 */
export const holdTold = Effect.fn("holdTold")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  held: HeldEvents,
  slots: Slots,
) {
  const { deployment } = yield* Instance;
  const told = memory.told.upTo(deployment.custodyProgram, slots.to, MOST_TOLD);
  const found = yield* Effect.forEach(
    told,
    ({ signature }) => memory.transactions.read(signature),
    { concurrency: AT_ONCE },
  );
  const transactions = found.filter((one): one is LedgerTransaction => one !== null);
  yield* holdTouched(accounts, held, transactions, slots.to, () => slots);
});

/** The entry of a page that is the oldest by slot. The page may be in any order. */
const oldestOf = (entries: ReadonlyArray<HistoryEntry>): HistoryEntry | undefined =>
  entries.reduce<HistoryEntry | undefined>(
    (low, entry) => (low === undefined || entry.slot <= low.slot ? entry : low),
    undefined,
  );

/**
 * Reads the history of the custody config, which every event writes to, newest first, and the escrows that its
 * transactions touched, until `held` is complete. A history that does not show all of them yet is read again after 200,
 * 400 and 800 ms. Stops, with what there is, at `most` transactions. The slots are above the last mark's, up to the
 * tip's. Fails like the ledger.
 */
export const followHistory = Effect.fn("followHistory")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  held: HeldEvents,
  { since, to }: Slots,
  most: number,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const config: Address = custodyConfigAddress(deployment).address;
  const done = new Set<LedgerSignature>();

  const readPage = Effect.fnUntraced(function* (entries: ReadonlyArray<HistoryEntry>) {
    const wanted = entries.filter(
      ({ signature, slot, failed }) =>
        !failed && slot >= since && slot <= to && !done.has(signature),
    );
    const slots = new Map(wanted.map(({ signature, slot }) => [signature, slot]));
    const found = yield* Effect.forEach(
      slots.keys(),
      (signature) => memory.transactions.read(signature),
      { concurrency: AT_ONCE },
    );
    // A transaction that the node lists and does not show is asked for again with the next reading.
    const transactions = found.filter((one): one is LedgerTransaction => one !== null);
    yield* holdTouched(accounts, held, transactions, to, ({ signature }) =>
      onlySlot(slots.get(signature) ?? -1n),
    );
    for (const { signature } of transactions) done.add(signature);
    memory.progress = { phase: "transactions", done: done.size, total: null };
  });

  const readAll = Effect.gen(function* () {
    const listed = new Set<LedgerSignature>();
    for (let before: LedgerSignature | null = null; !held.isComplete && listed.size <= most;) {
      const page: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
        config,
        before,
        START_UNNEEDED,
      );
      const known = listed.size;
      for (const { signature } of page.entries) listed.add(signature);
      yield* readPage(page.entries);
      const oldest = oldestOf(page.entries);
      if (oldest === undefined || oldest.slot < since || listed.size === known) return;
      before = oldest.signature;
    }
  });
  yield* Effect.repeat(readAll, { schedule: LAG_RETRIES, until: () => held.isComplete });
});
