import { Effect } from "effect";
import { IndexReader } from "../../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import { Instance } from "../../../../../ports/instance.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { type EventReference, seqCausedBy } from "../../../../domain/index/settlement-event.ts";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import {
  type EventCause,
  eventCausesOf,
} from "../../../../protocol/transaction/transaction-effects.ts";
import { monotonicMs } from "../../../single-flight.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";

/** Slots from `since` to `to`, both included. */
export type Slots = { readonly since: bigint; readonly to: bigint };

/** The one slot. */
export const onlySlot = (slot: bigint): Slots => ({ since: slot, to: slot });

/**
 * The events that a transaction caused, none when a node shows it in a slot where it cannot be, such as another one
 * than a history lists. A transaction is in one slot, a stored reference is never replaced, and no root proves it: so
 * such an event stays without a transaction until a node agrees with itself.
 */
export const causesWithin = Effect.fnUntraced(function* (
  transaction: LedgerTransaction,
  { since, to }: Slots,
) {
  const { deployment } = yield* Instance;
  const { signature, slot } = transaction;
  const causes = eventCausesOf(transaction, deployment);
  if (causes.length === 0 || (slot >= since && slot <= to)) return causes;
  yield* Effect.logWarning("a node shows a transaction in a slot where it cannot be", {
    signature,
    slot,
    since,
    to,
  });
  const none: ReadonlyArray<EventCause> = [];
  return none;
});

/** Events per sync. Each costs a page of history and some transactions. */
const EVENTS_A_SYNC = 32;
/** Interval after which events without a transaction are searched again, milliseconds. */
const AGAIN_MS = 600_000;
/** An escrow's history has its creation, its settlement, and any other transaction that names it. */
const TRANSACTIONS_AN_ESCROW = 8;
const AT_ONCE = 8;

/**
 * Searches the histories of some escrows for the transactions of events that have none. A snapshot finds such events,
 * and a history can be late. Each sync continues where the last one ended. From time to time the search restarts, so
 * that events without history do not block the others. The index holds the events up to `count`.
 */
export const findEventTransactions = Effect.fn("findEventTransactions")(function* (
  memory: SyncMemory,
  count: bigint,
) {
  const ledger = yield* Ledger;
  const index = yield* IndexReader;
  const { apply } = yield* IndexWriter;
  const nowMs = yield* monotonicMs;
  memory.searchedAllMs ??= nowMs;
  if (nowMs - memory.searchedAllMs >= AGAIN_MS) {
    memory.searchedTo = 0n;
    memory.searchedAllMs = nowMs;
  }
  const events = yield* index.events({ withoutTransaction: true }, EVENTS_A_SYNC, {
    after: memory.searchedTo,
  });
  const escrows = [...new Set(events.map(({ event }) => event.escrow))];
  const found = yield* Effect.forEach(
    escrows,
    Effect.fnUntraced(function* (escrow) {
      const { entries } = yield* ledger.history(escrow, null, () => false);
      const causes: Array<EventCause> = [];
      const landed = entries.filter(({ failed }) => !failed);
      // Reads only the oldest and the newest ones, because there may be any amount of spam in between.
      const half = TRANSACTIONS_AN_ESCROW / 2;
      const likely = new Set([...landed.slice(0, half), ...landed.slice(-half)]);
      // Oldest first: the first reference of an event stays, and of several claims the oldest one settled the escrow.
      for (const { signature, slot } of [...likely].toReversed()) {
        const transaction = yield* ledger.transaction(signature);
        if (transaction === null) continue;
        causes.push(...(yield* causesWithin(transaction, onlySlot(slot))));
      }
      return causes;
    }),
    { concurrency: AT_ONCE },
  );
  const held = yield* index.escrowsAt(escrows);
  const rows = new Map(held.escrows.map((escrow) => [escrow.address, escrow]));
  const transactions = found
    .flat()
    .flatMap(({ escrow, by, signature, slot }): Array<EventReference> => {
      const row = rows.get(escrow);
      const position = row === undefined ? null : seqCausedBy(row, by);
      return position === null || position > count ? [] : [{ position, signature, slot }];
    });
  if (transactions.length > 0)
    yield* apply({ from: count, escrows: [], unseen: [], merchants: [], transactions, mark: null });
  const last = events.at(-1)?.position ?? 0n;
  // A short page means that all other transactions are known. Remembering that saves an expensive search of the store.
  const isAll = events.length < EVENTS_A_SYNC && last < count;
  memory.searchedTo = isAll ? count : last;
});
