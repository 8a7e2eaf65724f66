import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import type { EventReference } from "../../domain/index/settlement-event.ts";
import {
  eventReferencesOf,
  touchedAccountsOf,
} from "../../protocol/transaction/settlement-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import type { IndexAccounts } from "./index-accounts.ts";
import { listHistory } from "./list-history.ts";
import { refuseOlder } from "../refuse-answer.ts";
import type { SyncMemory } from "./sync-memory.ts";

/**
 * Slots before the checkpoint that are read again: a node lists a transaction a little later than it executes it.
 * A minute at 400 ms a slot.
 */
export const OVERLAP_SLOTS = 150n;
/** Transactions that are asked for at the same time. */
const AT_ONCE = 8;
/** As many accounts as the ledger reads at once. */
const READ_AT_ONCE = 100;

/** How much history is worth reading instead of a snapshot of so many rows: a request each, against a row each. */
const worthReading = (rows: number): number => Math.min(20_000, 500 + Math.floor(rows / 20));

/**
 * Applies to the index what changed since `since`, the slot that it is complete to: reads the history of both
 * programs back to there and somewhat further, and then only the accounts that its transactions
 * touched. Gives null, with nothing applied, when history cannot tell all of it, or less cheaply
 * than a snapshot.
 */
export const syncChanges = Effect.fn("syncChanges")(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  since: { readonly slot: bigint; readonly rows: number },
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const floor = since.slot > OVERLAP_SLOTS ? since.slot - OVERLAP_SLOTS : 0n;
  const listed = yield* listHistory(
    [deployment.custodyProgram, deployment.attestorProgram],
    floor,
    worthReading(since.rows),
  );
  if (listed === null) return null;
  const wanted = [...listed.values()].filter(
    ({ signature, failed }) => !failed && !memory.hasApplied(signature),
  );
  let done = 0;
  const found = yield* Effect.forEach(
    wanted,
    (entry) =>
      Effect.tap(ledger.transaction(entry.signature), () =>
        Effect.sync(() => {
          done += 1;
          memory.progress = { phase: "transactions", done, total: wanted.length };
        }),
      ),
    { concurrency: AT_ONCE },
  );
  const transactions: Array<LedgerTransaction> = [];
  for (const [at, transaction] of found.entries()) {
    // Listed but not shown, or shown as something else: what it touched is not known.
    if (transaction === null || transaction.slot !== wanted[at]?.slot) return null;
    transactions.push(transaction);
  }
  const touched = [...new Set(transactions.flatMap((one) => touchedAccountsOf(one, deployment)))];
  const references = transactions.flatMap((one) => eventReferencesOf(one, deployment));
  const lowest = yield* applyTouched(accounts, memory, { touched, references, since: since.slot });
  for (const { signature, slot } of transactions) {
    // What was read below a transaction's slot need not show it; it is read again while it is in the overlap.
    if (lowest === null || slot <= lowest) memory.applied(signature);
  }
  return { slot: lowest, vanished: [] as ReadonlyArray<Address> };
});

/** Reads accounts and applies them; gives the lowest slot that any was read at, null when there were none. */
const applyTouched = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  {
    touched,
    references,
    since,
  }: {
    readonly touched: ReadonlyArray<Address>;
    readonly references: ReadonlyArray<EventReference>;
    readonly since: bigint;
  },
) {
  const ledger = yield* Ledger;
  let lowest: bigint | null = null;
  for (let at = 0; at < touched.length; at += READ_AT_ONCE) {
    const asked = touched.slice(at, at + READ_AT_ONCE);
    const { slot, value } = yield* ledger.readAccounts(asked, "finalized");
    yield* refuseOlder(slot, since);
    lowest = lowest === null || slot < lowest ? slot : lowest;
    const present = value.filter((account): account is LedgerAccount => account !== null);
    const named = new Set(asked);
    // With the rows, so that nobody sees an event without its transaction where that is known.
    accounts.gather(slot, present);
    yield* accounts.write({
      references: references.filter(({ escrow }) => named.has(escrow)),
    });
    memory.progress = { phase: "accounts", done: at + value.length, total: touched.length };
  }
  return lowest;
});
