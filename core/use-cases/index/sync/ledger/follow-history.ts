import { Effect } from "effect";
import type { Address } from "../../../../domain/address.ts";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { HistoryEntry } from "../../../../domain/ledger/history.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { believedBytes } from "../../../../protocol/accounts/last-bytes.ts";
import { custodyConfigAddress } from "../../../../protocol/addresses/addresses.ts";
import { archivedBytesOf } from "../../../../protocol/transaction/archived-bytes.ts";
import { touchedAccountsOf } from "../../../../protocol/transaction/settlement-transaction.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { causesWithin, onlySlot, type Slots } from "../events/causes-within.ts";
import type { HeldEvents } from "../events/held-events.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { LAG_RETRIES, READ_AT_ONCE, readAccountsSince } from "./read-accounts-since.ts";
import type { SyncMemory } from "./sync-memory.ts";

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
  const offered = transactions.flatMap((one) => archivedBytesOf(one, deployment));
  for (let at = 0; at < touched.length; at += READ_AT_ONCE) {
    const read = yield* readAccountsSince(touched.slice(at, at + READ_AT_ONCE), slot);
    const present = read.value.filter((account): account is LedgerAccount => account !== null);
    const rows = accounts.decode(read.slot, present);
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
