import { Effect } from "effect";
import type { RelayEntry, SettledOutcome } from "../domain/relay-entry.ts";
import type { LandedTransaction } from "../domain/transaction-outcome.ts";
import { Broadcaster } from "../../ports/broadcaster.ts";
import { Ledger } from "../../ports/ledger.ts";
import { OutcomeLog } from "../../ports/outcome-log.ts";
import type { RelayQueue } from "./relay-queue.ts";

/** Most signatures of one question, and sendings at one time. */
const STATUSES = 256;
const SENDINGS = 8;

/** What the ledger shows so far back in time that silence about a transaction proves something. */
type Horizon = { readonly blockHeight: bigint; readonly historyStart: bigint };

const horizon = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const broadcaster = yield* Broadcaster;
  const historyStart = yield* broadcaster.historyStart;
  const { blockHeight } = yield* ledger.tip("finalized");
  const seen: Horizon = { blockHeight, historyStart };
  return seen;
}).pipe(Effect.orElseSucceed(() => null));

/**
 * What can be said for good of an entry, null when nothing can. `landed` must have been asked for after
 * `horizon`: only then does silence beyond the last valid height mean that it never landed.
 */
const settled = (
  entry: RelayEntry,
  landed: LandedTransaction | null,
  horizon: Horizon | null,
): SettledOutcome | null => {
  if (landed !== null)
    return landed.commitment === "finalized"
      ? { status: "landed", slot: landed.slot, error: landed.error }
      : null;
  if (horizon === null || horizon.historyStart > entry.openedAtSlot) return null;
  const { blockHeight } = horizon;
  return blockHeight > entry.lastValidBlockHeight ? { status: "expired", blockHeight } : null;
};

const settleSome = Effect.fnUntraced(function* (
  queue: RelayQueue,
  entries: ReadonlyArray<RelayEntry>,
  seen: Horizon | null,
) {
  const broadcaster = yield* Broadcaster;
  const log = yield* OutcomeLog;
  const found = yield* broadcaster
    .landedAll(entries.map(({ signature }) => signature))
    .pipe(Effect.orElseSucceed(() => null));
  const toSend: Array<RelayEntry> = [];
  for (const [i, entry] of entries.entries()) {
    const landed = found === null ? undefined : (found[i] ?? null);
    const outcome = landed === undefined ? null : settled(entry, landed, seen);
    if (outcome !== null) {
      yield* log.settle(entry.signature, outcome);
      queue.remove(entry);
    } else if (seen !== null && seen.blockHeight > entry.lastValidBlockHeight) {
      // Nothing can be won by sending it again. Where history is gone nobody will ever know: it stays
      // unsettled in the log, and nothing is said of it that is not known.
      if (landed === null) queue.remove(entry);
    } else if (landed === null || landed === undefined) toSend.push(entry);
  }
  // Whatever a node answers here, only the history says what became of a transaction.
  const sendings = toSend.map(({ transaction }) => Effect.ignore(broadcaster.submit(transaction)));
  yield* Effect.all(sendings, { concurrency: SENDINGS, discard: true });
});

/**
 * One round over everything under way: what has landed for good or can never land is recorded and leaves
 * the queue; what has not landed is sent again. A failure leaves the rest for the next round.
 * See docs/protocol.md, "Relay".
 */
export const settleRelays = Effect.fnUntraced(function* (queue: RelayQueue) {
  const entries = queue.all();
  if (entries.length === 0) return;
  const seen = yield* horizon;
  for (let at = 0; at < entries.length; at += STATUSES)
    yield* settleSome(queue, entries.slice(at, at + STATUSES), seen);
});
