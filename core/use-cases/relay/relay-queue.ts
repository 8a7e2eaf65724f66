import { Effect } from "effect";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { LandedTransaction, RelayEntry } from "../../domain/relay/relay-entry.ts";
import { clientShare, feePayerShare, RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { RelayQueueFull, RelayShareFull } from "./relay-errors.ts";

/** An entry and the client that sent it to this process; null when the client is not known. */
type QueuedEntry = { readonly entry: RelayEntry; readonly client: string | null };

/** Counts per name. A name at 0 is dropped. */
const makeTally = () => {
  const counts = new Map<string, number>();
  const change = (name: string, by: number): void => {
    const count = (counts.get(name) ?? 0) + by;
    if (count > 0) counts.set(name, count);
    else counts.delete(name);
  };
  return { of: (name: string): number => counts.get(name) ?? 0, change };
};

/**
 * The entries under way. Their number is bounded, and so is the share of one client and of one fee payer. Entries
 * resumed from the log count for their fee payer only, because the log does not name the client.
 */
export const makeRelayQueue = () => {
  const { queueCapacity } = RELAY_POLICY;
  const queued = new Map<LedgerSignature, QueuedEntry>();
  /** When a round first looked at each entry, milliseconds of a monotonic clock. */
  const firstSeenMs = new Map<LedgerSignature, number>();
  /** Where each entry that waits for finality alone landed, and when that was seen first, on the same clock. */
  const landings = new Map<LedgerSignature, { readonly slot: bigint; readonly seenMs: number }>();
  /** When each entry was sent first by this process, on the same clock. */
  const sentMs = new Map<LedgerSignature, number>();
  const ofPayer = makeTally();
  const ofClient = makeTally();

  const add = (entry: RelayEntry, client: string | null): void => {
    if (queued.has(entry.signature)) return;
    queued.set(entry.signature, { entry, client });
    ofPayer.change(entry.feePayer, 1);
    if (client !== null) ofClient.change(client, 1);
  };

  /** Why the queue has no room for an entry, null when it has. */
  const obstacle = ({ signature, feePayer }: RelayEntry, client: string | null) => {
    const free = queueCapacity - queued.size;
    if (free <= 0) return new RelayQueueFull({ signature, capacity: queueCapacity });
    const ofOneClient = clientShare(free);
    if (client !== null && ofClient.of(client) >= ofOneClient)
      return new RelayShareFull({ signature, holder: "client", share: ofOneClient });
    const ofOnePayer = feePayerShare(free);
    return ofPayer.of(feePayer) >= ofOnePayer
      ? new RelayShareFull({ signature, holder: "fee_payer", share: ofOnePayer })
      : null;
  };

  return {
    /** Adds an entry from before a restart, whatever the bounds. */
    resume: (entry: RelayEntry): void => add(entry, null),
    /** Adds an entry of the log if the queue has room. */
    follow: (entry: RelayEntry): void => {
      if (obstacle(entry, null) === null) add(entry, null);
    },
    /** Adds a new entry. Fails when the queue is full, or the share of its client or fee payer. */
    admit: Effect.fnUntraced(function* (entry: RelayEntry, client: string | null) {
      const full = obstacle(entry, client);
      if (full !== null) return yield* full;
      add(entry, client);
    }),
    /** Removes an entry and returns its client; null when the client is not known. */
    remove: ({ signature, feePayer }: RelayEntry): string | null => {
      const waiting = queued.get(signature);
      if (waiting === undefined) return null;
      queued.delete(signature);
      firstSeenMs.delete(signature);
      landings.delete(signature);
      sentMs.delete(signature);
      ofPayer.change(feePayer, -1);
      if (waiting.client !== null) ofClient.change(waiting.client, -1);
      return waiting.client;
    },
    /** When an entry's first round was, now if this is it; milliseconds. */
    sinceMs: ({ signature }: RelayEntry, nowMs: number): number => {
      const firstMs = firstSeenMs.get(signature);
      if (firstMs === undefined) firstSeenMs.set(signature, nowMs);
      return firstMs ?? nowMs;
    },
    /** Records that an entry is sent for the first time. Its first round comes a little later. */
    sent: ({ signature }: RelayEntry, nowMs: number): void => void sentMs.set(signature, nowMs),
    /** Records what a status says of an entry: where it landed and succeeded, null for anything else. */
    seen: (signature: LedgerSignature, landed: LandedTransaction | null, nowMs: number): void => {
      if (!queued.has(signature)) return;
      if (landed === null || landed.error !== null || landed.commitment === "processed")
        landings.delete(signature);
      else if (landings.get(signature)?.slot !== landed.slot)
        landings.set(signature, { slot: landed.slot, seenMs: nowMs });
    },
    /** Whether an entry only waits for the slot that it landed in to be final. */
    isLanded: ({ signature }: RelayEntry): boolean => landings.has(signature),
    /**
     * The entries that a round has something to ask about. One that has landed waits for as long as finality takes,
     * or until its slot is known to be final, up to `finalSlot`.
     */
    due: (nowMs: number, finalSlot: bigint | null): ReadonlyArray<RelayEntry> =>
      Array.from(queued.values(), ({ entry }) => entry).filter(({ signature }) => {
        const landing = landings.get(signature);
        if (landing === undefined)
          return nowMs - (sentMs.get(signature) ?? -Infinity) >= RELAY_POLICY.firstRoundMs;
        const isKnownFinal = finalSlot !== null && landing.slot <= finalSlot;
        return isKnownFinal || nowMs - landing.seenMs >= RELAY_POLICY.finalityMs;
      }),
    size: (): number => queued.size,
    /** When the oldest entry was taken on, by the service's clock in milliseconds; null without entries. */
    oldestMs: (): number | null => {
      let oldest: number | null = null;
      for (const { entry } of queued.values())
        if (oldest === null || entry.openedAtMs < oldest) oldest = entry.openedAtMs;
      return oldest;
    },
  };
};

/** See `makeRelayQueue`. */
export type RelayQueue = ReturnType<typeof makeRelayQueue>;
