import { Effect } from "effect";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { RelayEntry } from "../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { clientShare, feePayerShare } from "../../domain/relay/relay-share.ts";
import { RelayQueueFull, RelayShareFull } from "./relay-errors.ts";

/** An entry and the client that sent it to this process, null where that is not known. */
type Place = { readonly entry: RelayEntry; readonly client: string | null };

/** How often each name was added and not taken away again; it keeps no name at 0. */
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
 * What is under way: a bounded number of entries, of which one client and one fee payer have a bounded share.
 * An entry that an earlier life of the process or another replica took on counts for its fee payer alone:
 * the log does not say who sent it.
 */
export const makeRelayQueue = () => {
  const { queueCapacity } = RELAY_POLICY;
  const places = new Map<LedgerSignature, Place>();
  const ofPayer = makeTally();
  const ofClient = makeTally();

  const add = (entry: RelayEntry, client: string | null): void => {
    if (places.has(entry.signature)) return;
    places.set(entry.signature, { entry, client });
    ofPayer.change(entry.feePayer, 1);
    if (client !== null) ofClient.change(client, 1);
  };

  /** Why there is no place for an entry, null when there is one. */
  const obstacle = ({ signature, feePayer }: RelayEntry, client: string | null) => {
    const free = queueCapacity - places.size;
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
    /** Adds an entry of an earlier life whatever the bounds. */
    resume: (entry: RelayEntry): void => add(entry, null),
    /** Adds an entry of the log where there is a place for it. */
    follow: (entry: RelayEntry): void => {
      if (obstacle(entry, null) === null) add(entry, null);
    },
    /** Adds a new entry, or fails when the queue, or its client's or fee payer's share of it, is full. */
    admit: Effect.fnUntraced(function* (entry: RelayEntry, client: string | null) {
      const full = obstacle(entry, client);
      if (full !== null) return yield* full;
      add(entry, client);
    }),
    /** Removes an entry; the client that sent it, null where that is not known. */
    remove: ({ signature, feePayer }: RelayEntry): string | null => {
      const place = places.get(signature);
      if (place === undefined) return null;
      places.delete(signature);
      ofPayer.change(feePayer, -1);
      if (place.client !== null) ofClient.change(place.client, -1);
      return place.client;
    },
    all: (): ReadonlyArray<RelayEntry> => Array.from(places.values(), ({ entry }) => entry),
    size: (): number => places.size,
  };
};

/** See `makeRelayQueue`. */
export type RelayQueue = ReturnType<typeof makeRelayQueue>;
