import { Effect, Metric } from "effect";
import {
  type FinalOutcome,
  firstPossibleSlot,
  isBeyondLifetime,
  type LandedTransaction,
  type RelayEntry,
} from "../../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../domain/relay/relay-policy.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { monotonicMs } from "../../single-flight.ts";
import { ofTwoNodes } from "../../or-ask-another.ts";
import { corroborateExpiry, corroborateFailure } from "./corroborate.ts";
import { indexedOutcome } from "./indexed-outcome.ts";
import { chargeExpired } from "../relay-admission.ts";
import type { RelayQueue } from "../relay-queue.ts";
import { RelayMemory } from "../relayed-effects.ts";

/** The most signatures per request, and concurrent sendings. */
const STATUSES = 256;
const SENDINGS = 8;
/**
 * The most entries of a round whose expiry or failure is corroborated, and how many at once. Each costs a few calls.
 */
const CORROBORATIONS = 32;
const AT_ONCE = 4;

/** The finalized tip, null when no node answers. */
const finalizedTip = Effect.gen(function* () {
  const ledger = yield* Ledger;
  return yield* ledger.tip("finalized");
}).pipe(Effect.orElseSucceed(() => null));
type Tip = Effect.Success<typeof finalizedTip>;

const isBeyond = (entry: RelayEntry, tip: Tip, blocks = 0n): boolean =>
  tip !== null && isBeyondLifetime(entry, tip, blocks);

/** What is known of an entry. */
type Found = {
  readonly entry: RelayEntry;
  /** Undefined when no node answers. */
  readonly landed: LandedTransaction | null | undefined;
  /**
   * Whether one node has searched its whole history for it, and the first slot that it says to hold; null when it does
   * not say.
   */
  readonly searched: boolean;
  readonly completeFrom: bigint | null;
};

/** Where each transaction landed, undefined when no node answers. */
const landedOf = Effect.fnUntraced(function* (entries: ReadonlyArray<RelayEntry>) {
  const broadcaster = yield* Broadcaster;
  const landings = yield* broadcaster
    .landedAll(entries.map(({ signature }) => signature))
    .pipe(Effect.orElseSucceed(() => null));
  return entries.map((entry, i): Found => ({
    entry,
    landed: landings === null ? undefined : (landings[i] ?? null),
    searched: false,
    completeFrom: null,
  }));
});

/** Looks up again, at one node, the entries that may have expired, together with how far back its history goes. */
const searched = Effect.fnUntraced(function* (lookups: ReadonlyArray<Found>, tip: Tip) {
  const broadcaster = yield* Broadcaster;
  const gone = lookups.filter(
    ({ entry, landed }) => landed === null && isBeyond(entry, tip, RELAY_POLICY.expiryMarginBlocks),
  );
  if (gone.length === 0) return lookups;
  const search = yield* broadcaster
    .searchAll(gone.map(({ entry }) => entry.signature))
    .pipe(Effect.orElseSucceed(() => null));
  return lookups.map((lookup): Found => {
    const at = gone.indexOf(lookup);
    if (at < 0 || search === null) return lookup;
    const landed = search.landed[at] ?? null;
    return { entry: lookup.entry, landed, searched: true, completeFrom: search.completeFrom };
  });
});

/** Whether a node says that its history does not reach back to the first slot that can hold the transaction. */
const isForgotten = ({ entry, landed, completeFrom }: Found): boolean =>
  landed === null && completeFrom !== null && completeFrom > firstPossibleSlot(entry);

/**
 * Whether a status says that an entry landed where nothing is dropped: a block above the finalized tip still can be.
 */
const isFinal = (landed: LandedTransaction, finalSlot: bigint): boolean =>
  landed.commitment === "finalized" && landed.slot <= finalSlot;

/** Whether more must be read before an outcome is certain. */
const needsReads = ({ landed, searched }: Found): boolean =>
  landed === null || landed === undefined
    ? searched
    : landed.error !== null && landed.commitment === "finalized";

/** What can become of a relayed transaction; the label of `relay_outcomes_total`. */
type RelayEnd = "landed" | "failed" | "expired" | "given_up";

/** Counts the outcomes that this process found. */
export const relayOutcomes = Metric.counter("relay_outcomes_total", {
  description:
    "Relayed transactions whose outcome this process found: landed, failed on the ledger, expired, or given_up for those that it no longer follows.",
  incremental: true,
});
const countEnd = (outcome: RelayEnd) =>
  Metric.update(Metric.withAttributes(relayOutcomes, { outcome }), 1);
const endOf = (outcome: FinalOutcome): RelayEnd =>
  outcome.status === "expired" ? "expired" : outcome.error === null ? "landed" : "failed";

const landedAt = (slot: bigint): FinalOutcome => ({ status: "landed", slot, error: null });

/**
 * The final outcome of an entry, null when it is not certain. The slots up to `finalSlot` are final by the index.
 */
const finalOutcome = Effect.fnUntraced(function* (
  lookup: Found,
  tip: Tip,
  finalSlot: bigint | null,
) {
  const { entry, landed } = lookup;
  if (landed?.error === null && finalSlot !== null && isFinal(landed, finalSlot))
    return landedAt(landed.slot);
  if (tip === null) return null;
  if (landed === null || landed === undefined) {
    if (!lookup.searched || isForgotten(lookup)) return null;
    return yield* corroborateExpiry(entry, tip).pipe(Effect.orElseSucceed(() => null));
  }
  if (!isFinal(landed, tip.slot)) return null;
  const { slot, error } = landed;
  if (error === null) return landedAt(slot);
  return yield* corroborateFailure(entry, { slot, error }, tip).pipe(
    Effect.orElseSucceed(() => null),
  );
});

/** Whether an outcome says that the transaction did nothing. */
const didNothing = (outcome: FinalOutcome | null): boolean =>
  outcome !== null && (outcome.status === "expired" || outcome.error !== null);

/**
 * The outcome that one node alone tells of an entry, with everything read anew. Null when it is not certain, and when
 * the node does not answer.
 */
const outcomeAlone = Effect.fnUntraced(function* (entry: RelayEntry, finalSlot: bigint | null) {
  const tip = yield* finalizedTip;
  const [lookup] = yield* searched(yield* landedOf([entry]), tip);
  return lookup === undefined ? null : yield* finalOutcome(lookup, tip, finalSlot);
});

/**
 * The final outcome of an entry. That it did nothing counts once another node tells the same, where one is configured;
 * a node that shows it without error decides.
 */
const agreedOutcome = Effect.fnUntraced(function* (
  lookup: Found,
  tip: Tip,
  finalSlot: bigint | null,
) {
  let first = true;
  const read = Effect.suspend(() => {
    if (!first) return outcomeAlone(lookup.entry, finalSlot);
    first = false;
    return finalOutcome(lookup, tip, finalSlot);
  });
  const { value: outcome, nodes } = yield* ofTwoNodes(read, didNothing);
  const agreed: FinalOutcome | null =
    outcome !== null && didNothing(outcome) ? { ...outcome, nodes } : outcome;
  return agreed;
});

/** Whether an entry without an outcome leaves the queue. The log keeps it, and whoever asks for it puts it back. */
const isGivenUp = (lookup: Found, tip: Tip, sinceMs: number, nowMs: number): boolean => {
  const { entry, landed } = lookup;
  if (landed?.error === null) return false;
  return (
    isForgotten(lookup) ||
    isBeyond(entry, tip, RELAY_POLICY.queueBlocks) ||
    nowMs - sinceMs >= RELAY_POLICY.queueMs
  );
};

/** Whether a tip is needed to tell whether an entry's outcome is final. `finalSlot` is known to be final. */
const needsTip = ({ landed }: Found, finalSlot: bigint | null): boolean =>
  landed?.commitment === "finalized" &&
  (landed.error !== null || finalSlot === null || landed.slot > finalSlot);

const resolveSome = Effect.fnUntraced(function* (
  queue: RelayQueue,
  entries: ReadonlyArray<RelayEntry>,
  { before, finalSlot }: { readonly before: Tip; readonly finalSlot: bigint | null },
) {
  const broadcaster = yield* Broadcaster;
  const log = yield* OutcomeLog;
  const lookups = yield* searched(yield* landedOf(entries), before);
  const nowMs = yield* monotonicMs;
  const memory = yield* RelayMemory;
  for (const { entry, landed } of lookups) {
    memory?.landed(entry.signature, landed ?? null);
    if (landed !== undefined) queue.seen(entry.signature, landed, nowMs);
  }
  // Nothing expires by a tip that was read after the look-up.
  const isAsked = before === null && lookups.some((each) => needsTip(each, finalSlot));
  const tip = isAsked ? yield* finalizedTip : before;
  const toCorroborate = new Set(lookups.filter(needsReads).slice(0, CORROBORATIONS));
  const outcomes = yield* Effect.forEach(
    lookups,
    (each) =>
      needsReads(each) && !toCorroborate.has(each)
        ? Effect.succeed(null)
        : agreedOutcome(each, tip, finalSlot),
    { concurrency: AT_ONCE },
  );
  const toSend: Array<RelayEntry> = [];
  for (const [i, lookup] of lookups.entries()) {
    const { entry, landed } = lookup;
    const outcome = outcomes[i] ?? null;
    if (outcome !== null) {
      yield* log.resolve(entry.signature, outcome);
      yield* countEnd(endOf(outcome));
      if (didNothing(outcome)) memory?.forget(entry.signature);
      const client = queue.remove(entry);
      if (outcome.status === "expired") yield* chargeExpired(entry.feePayer, client);
    } else if (isGivenUp(lookup, tip, queue.sinceMs(entry, nowMs), nowMs)) {
      queue.remove(entry);
      yield* countEnd("given_up");
      memory?.forget(entry.signature);
    } else if (!isBeyond(entry, tip) && (landed === null || landed === undefined)) {
      toSend.push(entry);
    }
  }
  // The node's answer does not matter: only the history tells the outcome.
  const sendings = toSend.map(({ transaction }) => Effect.ignore(broadcaster.submit(transaction)));
  yield* Effect.all(sendings, { concurrency: SENDINGS, discard: true });
});

/** The slot up to which the ledger is final by the index, null when the store does not say. */
const finalByIndex = Effect.gen(function* () {
  const index = yield* IndexReader;
  const { mark } = yield* index.summary;
  return mark?.slot ?? null;
}).pipe(Effect.orElseSucceed(() => null));

/** Records the outcomes that the index knows, and returns the entries that are left. */
const resolveByIndex = Effect.fnUntraced(function* (
  queue: RelayQueue,
  entries: ReadonlyArray<RelayEntry>,
) {
  const log = yield* OutcomeLog;
  const left: Array<RelayEntry> = [];
  for (const entry of entries) {
    const outcome = queue.isLanded(entry) ? yield* indexedOutcome(entry) : null;
    if (outcome === null) left.push(entry);
    else {
      yield* log.resolve(entry.signature, outcome);
      yield* countEnd(endOf(outcome));
      queue.remove(entry);
    }
  }
  return left;
});

/**
 * One round over the queue. Records final outcomes and removes their entries; an expired one is charged to its sender.
 * Sends again what has not landed. What has landed is not asked for before it can be final, and the index tells that
 * without a call where it holds the event. Entries whose outcome nobody can tell leave the queue after a while. A
 * failure leaves the rest for the next round. See docs/relay.md.
 */
export const resolveRelays = Effect.fnUntraced(function* (queue: RelayQueue) {
  if (queue.size() === 0) return;
  const finalSlot = yield* finalByIndex;
  const due = queue.due(yield* monotonicMs, finalSlot);
  const entries = yield* resolveByIndex(queue, due);
  if (entries.length === 0) return;
  // A tip that was read before the look-up tells what has expired; what has landed does not expire.
  const before = entries.every(queue.isLanded) ? null : yield* finalizedTip;
  for (let at = 0; at < entries.length; at += STATUSES)
    yield* resolveSome(queue, entries.slice(at, at + STATUSES), { before, finalSlot });
});
