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

/** The finalized block height, null when no node tells it. */
const finalizedHeight = Effect.gen(function* () {
  const ledger = yield* Ledger;
  return (yield* ledger.tip("finalized")).blockHeight;
}).pipe(Effect.orElseSucceed(() => null));

/** Whether the height that was read before the transaction was looked for is beyond its last valid one. */
const isBeyond = (entry: RelayEntry, height: bigint | null): height is bigint =>
  height !== null && height > entry.lastValidBlockHeight;

/** Where each transaction has landed, undefined where no node tells. */
const landedOf = Effect.fnUntraced(function* (entries: ReadonlyArray<RelayEntry>) {
  const broadcaster = yield* Broadcaster;
  const found = yield* broadcaster
    .landedAll(entries.map(({ signature }) => signature))
    .pipe(Effect.orElseSucceed(() => null));
  return entries.map((entry, i) => ({
    entry,
    landed: found === null ? undefined : (found[i] ?? null),
  }));
});

/**
 * What can be said for good of an entry, null when nothing can. Silence means that it never landed only if
 * the height was read before it was looked for, and the history's beginning after that: what a node still
 * has at the end it had all the time.
 */
const settled = (
  entry: RelayEntry,
  landed: LandedTransaction | null | undefined,
  blockHeight: bigint | null,
  historyStart: bigint | null,
): SettledOutcome | null => {
  if (landed === undefined) return null;
  if (landed !== null)
    return landed.commitment === "finalized"
      ? { status: "landed", slot: landed.slot, error: landed.error }
      : null;
  if (historyStart === null || historyStart > entry.openedAtSlot) return null;
  return isBeyond(entry, blockHeight) ? { status: "expired", blockHeight } : null;
};

const settleSome = Effect.fnUntraced(function* (
  queue: RelayQueue,
  entries: ReadonlyArray<RelayEntry>,
  height: bigint | null,
) {
  const broadcaster = yield* Broadcaster;
  const log = yield* OutcomeLog;
  const found = yield* landedOf(entries);
  const gone = found.some(({ entry, landed }) => landed === null && isBeyond(entry, height));
  const historyStart = gone
    ? yield* broadcaster.historyStart.pipe(Effect.orElseSucceed(() => null))
    : null;
  const toSend: Array<RelayEntry> = [];
  for (const { entry, landed } of found) {
    const outcome = settled(entry, landed, height, historyStart);
    if (outcome !== null) {
      yield* log.settle(entry.signature, outcome);
      queue.remove(entry);
    } else if (!isBeyond(entry, height)) {
      if (landed === null || landed === undefined) toSend.push(entry);
    } else if (landed === null && historyStart !== null) {
      // Its history is gone, so nobody will ever know: it stays unsettled in the log, and nothing is said
      // of it that is not known.
      queue.remove(entry);
    }
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
  const height = yield* finalizedHeight;
  for (let at = 0; at < entries.length; at += STATUSES)
    yield* settleSome(queue, entries.slice(at, at + STATUSES), height);
});
