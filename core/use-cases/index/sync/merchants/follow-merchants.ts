import { Effect } from "effect";
import type { LedgerAccount } from "../../../../domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import type { Merchant } from "../../../../domain/merchant/merchant.ts";
import { touchedAccountsOf } from "../../../../protocol/transaction/settlement-transaction.ts";
import type { Observed } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import type { IndexAccounts } from "../index-accounts.ts";
import { monotonicMs } from "../../../monotonic-time.ts";
import { listHistory } from "../ledger/list-history.ts";
import { READ_AT_ONCE, readAccountsSince } from "../ledger/read-accounts-since.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/**
 * Slots before the mark whose merchants each sync reads again, because a node lists a transaction a little after
 * executing it. A minute at 400 ms a slot.
 */
export const OVERLAP_SLOTS = 150n;
/** Concurrent transaction requests. */
const AT_ONCE = 8;
/** Transactions per sync that a history should list and does not. */
const MOST_UNLISTED = 64;

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
 * The merchants that transactions of the attestor program touched since a little before slot `since`. Null when its
 * history is incomplete or has more than `most` transactions. Fails like the ledger.
 */
export const followMerchants = Effect.fn("followMerchants")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  since: bigint,
  most: number,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const floor = since > OVERLAP_SLOTS ? since - OVERLAP_SLOTS : 0n;
  const listed = yield* listHistory([deployment.attestorProgram], floor, most);
  if (listed === null) return null;
  // A failed transaction is no signal: a list that calls one failed of which a node told contradicts it.
  memory.told.forget([...listed.values()].flatMap((one) => (one.failed ? [] : [one.signature])));
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
    const { slot, value } = yield* readAccountsSince(touched.slice(at, at + READ_AT_ONCE), since);
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
      memory.told.forget(unlisted.read);
    },
  };
  return merchants;
});
