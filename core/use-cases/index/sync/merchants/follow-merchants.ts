import { Effect } from "effect";
import { IndexWriter, type Observed } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import type { Address } from "../../../../domain/address.ts";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import type { SyncMark } from "../../../../domain/index/sync-report.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { encodeMerchantAccount } from "../../../../protocol/accounts/merchant-account.ts";
import { merchantAddress } from "../../../../protocol/addresses/addresses.ts";
import { touchedAccountsOf } from "../../../../protocol/transaction/transaction-effects.ts";
import { monotonicMs } from "../../../single-flight.ts";
import type { IndexAccounts, ReadRows } from "../index-accounts.ts";
import { type CustodyTip, READ_AT_ONCE, readAccountsSince } from "../ledger/custody-tip.ts";
import { listHistory } from "../ledger/follow-history.ts";
import type { LookAhead } from "../ledger/look-ahead.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** Rows asked of the store at once. */
const ROWS_AT_ONCE = 1000;

const isSame = (a: Merchant, b: Merchant): boolean =>
  encodeMerchantAccount(a).toHex() === encodeMerchantAccount(b).toHex();

/** The newest observation of each merchant. */
const newestOf = (observations: ReadonlyArray<Observed<Merchant>>) => {
  const newest = new Map<Address, Observed<Merchant>>();
  for (const observed of observations) {
    const known = newest.get(observed.row.address);
    if (known === undefined || known.slot <= observed.slot)
      newest.set(observed.row.address, observed);
  }
  return [...newest.values()];
};

/**
 * The rows that observations change in the index, each merchant once: the newest slot wins. One that the index knows
 * already raises its row's slot, so that an older one cannot undo it later. Counts them in `accounts`.
 */
export const merchantChanges = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  observations: ReadonlyArray<Observed<Merchant>>,
) {
  const { merchantsAt } = yield* IndexWriter;
  const { merchants: tally } = accounts;
  const newest = newestOf(observations);
  const changes: Array<Observed<Merchant>> = [];
  for (let at = 0; at < newest.length; at += ROWS_AT_ONCE) {
    const some = newest.slice(at, at + ROWS_AT_ONCE);
    const rows = yield* merchantsAt(some.map(({ row }) => row.address));
    const stored = new Map(rows.map((observed) => [observed.row.address, observed]));
    for (const observed of some) {
      const known = stored.get(observed.row.address);
      const isUnchanged =
        known !== undefined && (known.slot > observed.slot || isSame(known.row, observed.row));
      tally[known === undefined ? "created" : isUnchanged ? "unchanged" : "updated"] += 1;
      if (known === undefined || observed.slot > known.slot || !isUnchanged) changes.push(observed);
    }
  }
  return changes;
});

/**
 * The merchants of these wallets that the index lacks, read from the ledger at `since` or later. A new escrow's
 * merchant is registered, so one that is missing here is one that history did not show. Fails like the ledger and the
 * store.
 */
export const namedMerchants = Effect.fn("namedMerchants")(function* (
  accounts: IndexAccounts,
  wallets: Iterable<Address>,
  since: bigint,
) {
  const { deployment } = yield* Instance;
  const { merchantsAt } = yield* IndexWriter;
  const named = [...new Set(wallets)].map((wallet) => merchantAddress(deployment, wallet).address);
  const missing: Array<Address> = [];
  for (let at = 0; at < named.length; at += ROWS_AT_ONCE) {
    const some = named.slice(at, at + ROWS_AT_ONCE);
    const known = new Set((yield* merchantsAt(some)).map(({ row }) => row.address));
    missing.push(...some.filter((address) => !known.has(address)));
  }
  const observed: Array<Observed<Merchant>> = [];
  for (let at = 0; at < missing.length; at += READ_AT_ONCE) {
    const read = yield* readAccountsSince(missing.slice(at, at + READ_AT_ONCE), since);
    const present = read.value.filter((account): account is LedgerAccount => account !== null);
    observed.push(...accounts.decode(read.slot, present).merchants);
  }
  return observed;
});

/**
 * Slots before the mark whose merchants each sync reads again, because a node lists a transaction a little after
 * executing it. A minute at 400 ms a slot.
 */
export const OVERLAP_SLOTS = 150n;
/** Concurrent transaction requests. */
const AT_ONCE = 8;
/** Transactions per sync that a history should list and does not. */
const MOST_UNLISTED = 64;

/**
 * Slots after which the merchants' history is read again when no node has told of a change: three minutes at 400 ms a
 * slot. Each costs a call, and a sync that nobody waits for comes more often.
 */
const UNASKED_SLOTS = 450n;

/** Merchants as they were read, and what to do once they are in the index. */
export type FollowedMerchants = {
  readonly observed: ReadonlyArray<Observed<Merchant>>;
  readonly applied: () => void;
};

/**
 * The transactions of which a node told and that its history still lacks below slot `floor`. If no node shows one, all
 * merchants are scanned, at most hourly for this reason.
 */
const readUnlisted = Effect.fnUntraced(function* (memory: SyncMemory, floor: bigint) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const told = memory.told.upTo(deployment.attestorProgram, floor - 1n, MOST_UNLISTED);
  const found = yield* Effect.forEach(told, ({ signature }) => ledger.transaction(signature), {
    concurrency: AT_ONCE,
  });
  if (found.includes(null)) memory.snapshots.askOnceAnHour(yield* monotonicMs);
  const transactions = found.filter((one): one is LedgerTransaction => one !== null);
  return { transactions, read: told.map(({ signature }) => signature) };
});

/**
 * The slot up to which the merchants' history has been followed, at least: whoever wrote `mark` followed it at most 450
 * slots before.
 */
const followedTo = ({ merchantsTo }: SyncMemory, mark: SyncMark): bigint => {
  const least = mark.slot > UNASKED_SLOTS ? mark.slot - UNASKED_SLOTS : 0n;
  return merchantsTo !== null && merchantsTo > least ? merchantsTo : least;
};

/**
 * The merchants that transactions of the attestor program touched since a little before its history was followed last, as
 * they are at the mark or later. Null when that history is incomplete or has more than `most` transactions. Fails like the ledger.
 */
export const followMerchants = Effect.fn("followMerchants")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  mark: SyncMark,
  most: number,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const from = followedTo(memory, mark);
  const floor = from > OVERLAP_SLOTS ? from - OVERLAP_SLOTS : 0n;
  const listed = yield* listHistory([deployment.attestorProgram], floor, most);
  if (listed === null) return null;
  // A failed transaction is no signal: a list that calls one failed of which a node told contradicts it.
  memory.told.forget(
    deployment.attestorProgram,
    [...listed.values()].flatMap((one) => (one.failed ? [] : [one.signature])),
  );
  const wanted = [...listed.values()].filter(
    ({ signature, failed }) => !failed && !memory.hasApplied(signature),
  );
  const found = yield* Effect.forEach(wanted, ({ signature }) => ledger.transaction(signature), {
    concurrency: AT_ONCE,
  });
  const transactions: Array<LedgerTransaction> = [];
  for (const [at, transaction] of found.entries()) {
    // The node does not show a transaction that it listed, or shows another one: the touched accounts are not known.
    if (transaction === null || transaction.slot !== wanted[at]?.slot) return null;
    transactions.push(transaction);
  }
  const unlisted = yield* readUnlisted(memory, floor);
  transactions.push(...unlisted.transactions);
  const touched = [...new Set(transactions.flatMap((one) => touchedAccountsOf(one, deployment)))];
  const observed: Array<Observed<Merchant>> = [];
  let lowest: bigint | null = null;
  for (let at = 0; at < touched.length; at += READ_AT_ONCE) {
    const { slot, value } = yield* readAccountsSince(
      touched.slice(at, at + READ_AT_ONCE),
      mark.slot,
    );
    lowest = lowest === null || slot < lowest ? slot : lowest;
    const present = value.filter((account): account is LedgerAccount => account !== null);
    observed.push(...accounts.decode(slot, present).merchants);
  }
  const merchants: FollowedMerchants = {
    observed,
    applied: () => {
      for (const { signature, slot } of transactions)
        // A read below a transaction's slot may not show its changes. Such a transaction is read again.
        if (lowest === null || slot <= lowest) memory.applied(signature);
      memory.told.forget(deployment.attestorProgram, unlisted.read);
    },
  };
  return merchants;
});

/** Whether a sync that nobody waits for leaves the merchants' history alone: it was followed lately. */
export const isFollowedLately = ({ merchantsTo }: SyncMemory, { slot }: CustodyTip): boolean =>
  merchantsTo !== null && slot < merchantsTo + UNASKED_SLOTS;

/** The merchants that the transactions of a look ahead touched. */
export const merchantsAhead = Effect.fnUntraced(function* (
  { merchants: observed }: ReadRows,
  memory: SyncMemory,
  { transactions }: LookAhead,
) {
  const { deployment } = yield* Instance;
  const merchants: FollowedMerchants = {
    observed,
    applied: () => {
      for (const { signature } of transactions) memory.applied(signature);
      memory.told.forget(
        deployment.attestorProgram,
        transactions.map(({ signature }) => signature),
      );
    },
  };
  return merchants;
});
