import { Effect } from "effect";
import type { RelayEntry, FinalOutcome } from "../../domain/relay/relay-entry.ts";
import type { LandedTransaction } from "../../domain/relay/transaction-outcome.ts";
import { Broadcaster } from "../../../ports/broadcaster.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { chargeExpired } from "./relay-budget.ts";
import type { RelayQueue } from "./relay-queue.ts";

/** The most signatures per request, and concurrent sendings. */
const STATUSES = 256;
const SENDINGS = 8;

/** The finalized block height, null when no node answers. */
const finalizedHeight = Effect.gen(function* () {
  const ledger = yield* Ledger;
  return (yield* ledger.tip("finalized")).blockHeight;
}).pipe(Effect.orElseSucceed(() => null));

/** Whether a height, read before the transaction was looked up, is beyond its last valid one. */
const isBeyond = (entry: RelayEntry, height: bigint | null): height is bigint =>
  height !== null && height > entry.lastValidBlockHeight;

/** What is known of an entry. `completeFrom` is set when the same node was asked how far back its history goes. */
type Found = {
  readonly entry: RelayEntry;
  readonly landed: LandedTransaction | null | undefined;
  readonly completeFrom: bigint | null;
};

/** Where each transaction landed, undefined when no node answers. */
const landedOf = Effect.fnUntraced(function* (entries: ReadonlyArray<RelayEntry>) {
  const broadcaster = yield* Broadcaster;
  const found = yield* broadcaster
    .landedAll(entries.map(({ signature }) => signature))
    .pipe(Effect.orElseSucceed(() => null));
  return entries.map((entry, i) => ({
    entry,
    landed: found === null ? undefined : (found[i] ?? null),
    completeFrom: null,
  }));
});

/** Looks up again, at one node, the entries that may have expired, together with how far back its history goes. */
const searched = Effect.fnUntraced(function* (found: ReadonlyArray<Found>, height: bigint | null) {
  const broadcaster = yield* Broadcaster;
  const gone = found.filter(({ entry, landed }) => landed === null && isBeyond(entry, height));
  if (gone.length === 0) return found;
  const search = yield* broadcaster
    .searchAll(gone.map(({ entry }) => entry.signature))
    .pipe(Effect.orElseSucceed(() => null));
  return found.map((known): Found => {
    const at = gone.indexOf(known);
    if (at < 0 || search === null) return known;
    const landed = search.landed[at] ?? null;
    return { entry: known.entry, landed, completeFrom: search.completeFrom };
  });
});

/**
 * The final outcome of an entry, null when it is not certain. A missing transaction never landed only under two
 * conditions: the height was read before the look-up, and the start of the history after it. A transaction that a node
 * has at the end was there all the time.
 */
const finalOutcome = (
  { entry, landed, completeFrom }: Found,
  blockHeight: bigint | null,
): FinalOutcome | null => {
  if (landed === undefined) return null;
  if (landed !== null)
    return landed.commitment === "finalized"
      ? { status: "landed", slot: landed.slot, error: landed.error }
      : null;
  if (completeFrom === null || completeFrom > entry.openedAtSlot) return null;
  return isBeyond(entry, blockHeight) ? { status: "expired", blockHeight } : null;
};

const resolveSome = Effect.fnUntraced(function* (
  queue: RelayQueue,
  entries: ReadonlyArray<RelayEntry>,
  height: bigint | null,
) {
  const broadcaster = yield* Broadcaster;
  const log = yield* OutcomeLog;
  const found = yield* searched(yield* landedOf(entries), height);
  const toSend: Array<RelayEntry> = [];
  for (const known of found) {
    const { entry, landed, completeFrom } = known;
    const outcome = finalOutcome(known, height);
    if (outcome !== null) {
      yield* log.resolve(entry.signature, outcome);
      const client = queue.remove(entry);
      if (outcome.status === "expired") yield* chargeExpired(entry.feePayer, client);
    } else if (!isBeyond(entry, height)) {
      if (landed === null || landed === undefined) toSend.push(entry);
    } else if (landed === null && completeFrom !== null) {
      // The history is gone, so the outcome will never be known. The log keeps the entry without one.
      queue.remove(entry);
    }
  }
  // The node's answer does not matter: only the history tells the outcome.
  const sendings = toSend.map(({ transaction }) => Effect.ignore(broadcaster.submit(transaction)));
  yield* Effect.all(sendings, { concurrency: SENDINGS, discard: true });
});

/**
 * One round over the queue. Records final outcomes and removes their entries; an expired one is charged to its sender.
 * Sends again what has not landed. A failure leaves the rest for the next round. See docs/protocol.md, "Relay".
 */
export const resolveRelays = Effect.fnUntraced(function* (queue: RelayQueue) {
  const entries = queue.all();
  if (entries.length === 0) return;
  const height = yield* finalizedHeight;
  for (let at = 0; at < entries.length; at += STATUSES)
    yield* resolveSome(queue, entries.slice(at, at + STATUSES), height);
});
