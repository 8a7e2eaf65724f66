import { Duration, Effect, Schedule } from "effect";
import { ConfirmedHistory } from "../../../../ports/ledger/confirmed-ledger.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import type { Address } from "../../../domain/address.ts";
import type { LoggedEvents } from "../../../domain/index/sync-report.ts";
import type { LedgerAccount } from "../../../domain/ledger/account.ts";
import type { Deployment } from "../../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import { indexedEscrowOf, unseenEscrowOf } from "../../../log/leaf/escrow-rows.ts";
import { indexedEventAt } from "../../../log/leaf/indexed-leaves.ts";
import { rootOf } from "../../../log/tree/frontier.ts";
import { readProgramAccount } from "../../../protocol/accounts/program-account.ts";
import { decodeCustodyConfigAccount } from "../../../protocol/accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../../../protocol/addresses/addresses.ts";
import {
  eventCausesOf,
  touchedAccountsOf,
} from "../../../protocol/transaction/transaction-effects.ts";
import { HeldEvents } from "../sync/events/held-events.ts";
import { READ_AT_ONCE } from "../sync/ledger/custody-tip.ts";
import type { StandingEvents } from "./confirmed-journal.ts";

/** What the custody program had numbered at a confirmed slot. */
export type ConfirmedTip = LoggedEvents & { readonly slot: bigint };

/** A chain of events that the config's frontier proves, from a proved state on. */
export type ConfirmedChain = StandingEvents & { readonly tip: ConfirmedTip };

/**
 * Transactions that one reading asks for at most. Of more, which only a burst or a flood makes, the others come once
 * they are final.
 */
const MOST_READ = 1000;
/** Concurrent transaction requests. */
const AT_ONCE = 8;
/** A node tells of a transaction before it shows it: 20, 40 and 80 ms. */
const SHOWN_SOON = Schedule.max([Schedule.exponential(Duration.millis(20)), Schedule.recurs(3)]);

/** The transactions of some signatures, as far as a node shows them. */
const transactionsOf = Effect.fnUntraced(function* (signatures: Iterable<LedgerSignature>) {
  const { transaction } = yield* ConfirmedHistory;
  const read = yield* Effect.forEach(
    [...new Set(signatures)].slice(0, MOST_READ),
    (signature) =>
      Effect.repeat(transaction(signature), {
        schedule: SHOWN_SOON,
        until: (shown) => shown !== null,
      }),
    { concurrency: AT_ONCE },
  );
  return read.filter((one): one is LedgerTransaction => one !== null);
});

/** The escrows that transactions changed, as far as their instructions tell. */
const escrowsIn = (
  transactions: ReadonlyArray<LedgerTransaction>,
  deployment: Deployment,
): ReadonlyArray<Address> => [
  ...new Set(
    transactions.flatMap((one) =>
      one.hasCalls
        ? eventCausesOf(one, deployment).map(({ escrow }) => escrow)
        : touchedAccountsOf(one, deployment),
    ),
  ),
];

const hold = (held: HeldEvents, account: LedgerAccount, deployment: Deployment): void => {
  const read = readProgramAccount(account, deployment);
  if (read === null || "fault" in read.decoded) return;
  if (read.kind === "escrow") {
    const escrow = read.decoded.value;
    if (held.concerns(escrow.createdSeq, escrow.settledSeq))
      held.add(indexedEscrowOf(escrow, account.data));
  } else if (read.kind === "archived_escrow")
    held.addUnseen(unseenEscrowOf(account.address, read.decoded.value));
};

/** Where a reading begins: a proved state, and a slot below which no answer is believed. */
export type ReadingFrom = { readonly base: LoggedEvents; readonly notBefore: bigint };

/**
 * Reads the custody program's confirmed state, and the escrows that these transactions changed. The chain from `base`
 * to that state, null where they do not lead there: a transaction is not known, or a fork has other events. Fails like
 * the ledger.
 */
export const readConfirmed = Effect.fn("readConfirmed")(function* (
  { base, notBefore }: ReadingFrom,
  signatures: Iterable<LedgerSignature>,
) {
  const { deployment } = yield* Instance;
  const ledger = yield* Ledger;
  const transactions = yield* transactionsOf(signatures);
  const escrows = escrowsIn(transactions, deployment);
  const { address } = custodyConfigAddress(deployment);
  const first = yield* ledger.readAccounts(
    [address, ...escrows.slice(0, READ_AT_ONCE - 1)],
    "confirmed",
    undefined,
    notBefore,
  );
  const [config, ...accounts] = first.value;
  if (config === null || config === undefined) return null;
  const read = decodeCustodyConfigAccount(config, deployment);
  if ("fault" in read) return null;
  const { count, frontier } = read.value;
  const tip: ConfirmedTip = { count, frontier, slot: first.slot };
  if (count < base.count) return null;
  if (count === base.count) return rootOf(tip) === rootOf(base) ? emptyChain(tip) : null;
  const held = new HeldEvents(base.count, count);
  for (const account of accounts) if (account !== null) hold(held, account, deployment);
  for (let at = READ_AT_ONCE - 1; at < escrows.length; at += READ_AT_ONCE) {
    // Events above the config's count are left out.
    const more = escrows.slice(at, at + READ_AT_ONCE);
    const { value } = yield* ledger.readAccounts(more, "confirmed", undefined, first.slot);
    for (const account of value) if (account !== null) hold(held, account, deployment);
  }
  for (const cause of transactions.flatMap((one) => eventCausesOf(one, deployment)))
    held.refer(cause);
  if (!held.isComplete || held.contradicted !== null) return null;
  return held.tree(base).root === rootOf(tip) ? chainOf(held, tip) : null;
});

const emptyChain = (tip: ConfirmedTip): ConfirmedChain => ({
  from: tip.count,
  to: tip.count,
  events: [],
  leafHashAt: () => undefined,
  tip,
});

const chainOf = (held: HeldEvents, tip: ConfirmedTip): ConfirmedChain => {
  const { from, to } = held;
  const { escrows, transactions } = held.changes(from, to);
  const references = new Map(transactions.map((each) => [each.position, each]));
  const events = escrows
    .flatMap((row) =>
      [row.createdSeq, row.settledSeq]
        .filter((seq) => seq !== null && seq > from && seq <= to)
        .map((seq) => indexedEventAt(row, seq ?? 0n, references.get(seq ?? 0n))),
    )
    .sort((a, b) => (a.position < b.position ? -1 : 1));
  return { from, to, events, leafHashAt: (position) => held.leafHashAt(position), tip };
};

/** As `readConfirmed`, of all transactions that the newest history lists since a slot. */
export const readAllConfirmed = Effect.fn("readAllConfirmed")(function* (
  from: ReadingFrom,
  sinceSlot: bigint,
  told: Iterable<LedgerSignature>,
) {
  const { deployment } = yield* Instance;
  const { recent } = yield* ConfirmedHistory;
  const entries = yield* recent(custodyConfigAddress(deployment).address);
  const listed = entries.filter(({ slot, failed }) => !failed && slot >= sinceSlot);
  return yield* readConfirmed(from, [...listed.map(({ signature }) => signature), ...told]);
});
