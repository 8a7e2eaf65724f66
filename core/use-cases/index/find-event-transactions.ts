import { Effect } from "effect";
import type { EventReference } from "../../domain/index/settlement-event.ts";
import { eventReferencesOf } from "../../protocol/transaction/settlement-transaction.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { monotonicMs } from "../monotonic-time.ts";
import type { SyncMemory } from "./sync-memory.ts";

/** Events that one sync looks for; each costs a page of history and a transaction. */
const EVENTS_A_SYNC = 32;
/** Events whose history was not to be found are looked for again so often, milliseconds. */
const AGAIN_MS = 600_000;
/** An escrow's own history is its creation and its settlement, and whatever else named it. */
const TRANSACTIONS_AN_ESCROW = 8;
const AT_ONCE = 8;

/**
 * Looks, in the histories of their escrows, for the transactions of some events that have none: those that a
 * snapshot found, and those whose history came late. It goes on where the last sync ended, and from time to
 * time begins again, so that events whose history is gone do not hold up the others.
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
      // The oldest and the newest: spam in between may be without end.
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
  // Fewer than asked for: the transactions of all others are known, and stores take long to find that out.
  const isAll = events.length < EVENTS_A_SYNC && last < indexed;
  memory.searchedTo = isAll ? BigInt(indexed) : last;
});
