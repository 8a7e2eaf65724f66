import { Effect } from "effect";
import type { EventReference } from "../../../domain/index/settlement-event.ts";
import { eventReferencesOf } from "../../../protocol/transaction/settlement-transaction.ts";
import { EscrowIndex } from "../../../../ports/escrow-index.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { monotonicMs } from "../../monotonic-time.ts";
import type { SyncMemory } from "./sync-memory.ts";

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
 * that events without history do not block the others.
 */
export const findEventTransactions = Effect.fn("findEventTransactions")(function* (
  memory: SyncMemory,
) {
  const ledger = yield* Ledger;
  const index = yield* EscrowIndex;
  const { deployment } = yield* Instance;
  const nowMs = yield* monotonicMs;
  memory.searchedAllMs ??= nowMs;
  if (nowMs - memory.searchedAllMs >= AGAIN_MS) {
    memory.searchedTo = 0n;
    memory.searchedAllMs = nowMs;
  }
  const { events: indexed } = yield* index.summary;
  const events = yield* index.eventsWithoutReference(EVENTS_A_SYNC, memory.searchedTo);
  const escrows = [...new Set(events.map(({ event }) => event.escrow))];
  const found = yield* Effect.forEach(
    escrows,
    Effect.fnUntraced(function* (escrow) {
      const { entries } = yield* ledger.history(escrow, null);
      const references: Array<EventReference> = [];
      const landed = entries.filter(({ failed }) => !failed);
      // Reads only the oldest and the newest ones, because there may be any amount of spam in between.
      const half = TRANSACTIONS_AN_ESCROW / 2;
      const likely = new Set([...landed.slice(-half), ...landed.slice(0, half)]);
      for (const { signature } of likely) {
        const transaction = yield* ledger.transaction(signature);
        if (transaction === null) continue;
        references.push(...eventReferencesOf(transaction, deployment));
      }
      return references;
    }),
    { concurrency: AT_ONCE },
  );
  const references = found.flat();
  if (references.length > 0)
    yield* index.apply({ escrows: [], merchants: [], events: [], references, checkpoint: null });
  const last = events.at(-1)?.position ?? 0n;
  // A short page means that all other transactions are known. Remembering that saves an expensive search of the store.
  const isAll = events.length < EVENTS_A_SYNC && last < indexed;
  memory.searchedTo = isAll ? BigInt(indexed) : last;
});
