import { Effect } from "effect";
import type { Address } from "../../../domain/address.ts";
import type { LedgerAccount } from "../../../domain/ledger/account.ts";
import type { LedgerTransaction } from "../../../domain/ledger/history.ts";
import type { EventReference } from "../../../domain/index/settlement-event.ts";
import {
  type ArchivedBytes,
  archivedBytesOf,
} from "../../../protocol/transaction/archived-bytes.ts";
import {
  eventReferencesOf,
  touchedAccountsOf,
} from "../../../protocol/transaction/settlement-transaction.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { gatherArchived } from "./gather-archived.ts";
import type { IndexAccounts } from "./index-accounts.ts";
import { listHistory } from "./list-history.ts";
import { refuseOlder } from "../../refuse-answer.ts";
import type { SyncMemory } from "./sync-memory.ts";

/**
 * Slots before the checkpoint that each sync reads again, because a node lists a transaction a little after executing
 * it. A minute at 400 ms a slot.
 */
export const OVERLAP_SLOTS = 150n;
/** Concurrent transaction requests. */
const AT_ONCE = 8;
/** The most accounts that the ledger reads in one request. */
const READ_AT_ONCE = 100;

/**
 * The longest history worth reading instead of a snapshot of `rows` rows: one request per transaction against one row
 * per account.
 */
const worthReading = (rows: number): number => Math.min(20_000, 500 + Math.floor(rows / 20));

/**
 * Applies what changed since the slot `since`, up to which the index is complete. Reads the history of both programs
 * from a little before `since`, and then only the accounts that its transactions touched. Returns null, with nothing
 * applied, when history is incomplete or costs more than a snapshot.
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
    // The node does not show a transaction that it listed, or shows another one: the touched accounts are not known.
    if (transaction === null || transaction.slot !== wanted[at]?.slot) return null;
    transactions.push(transaction);
  }
  const touched = [...new Set(transactions.flatMap((one) => touchedAccountsOf(one, deployment)))];
  const references = transactions.flatMap((one) => eventReferencesOf(one, deployment));
  const archived = transactions.flatMap((one) => archivedBytesOf(one, deployment));
  const lowest = yield* applyTouched(accounts, memory, {
    touched,
    references,
    archived,
    since: since.slot,
  });
  for (const { signature, slot } of transactions) {
    // A read below a transaction's slot may not show its changes. Such a transaction stays in the overlap and is read
    // again.
    if (lowest === null || slot <= lowest) memory.applied(signature);
  }
  return { slot: lowest, vanished: [] as ReadonlyArray<Address> };
});

/** Reads accounts and applies them. Returns the lowest slot of the reads, null without any. */
const applyTouched = Effect.fnUntraced(function* (
  accounts: IndexAccounts,
  memory: SyncMemory,
  {
    touched,
    references,
    archived,
    since,
  }: {
    readonly touched: ReadonlyArray<Address>;
    readonly references: ReadonlyArray<EventReference>;
    readonly archived: ReadonlyArray<ArchivedBytes>;
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
    // Written with the rows, so that no reader sees an event without its known transaction.
    accounts.gather(slot, present);
    yield* gatherArchived(accounts, memory, archived);
    yield* accounts.write({
      references: references.filter(({ escrow }) => named.has(escrow)),
    });
    memory.progress = { phase: "accounts", done: at + value.length, total: touched.length };
  }
  return lowest;
});
