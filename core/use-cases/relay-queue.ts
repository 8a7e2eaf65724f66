import { Effect } from "effect";
import type { Address } from "../domain/address.ts";
import type { LedgerSignature } from "../domain/ledger-signature.ts";
import type { RelayEntry } from "../domain/relay-entry.ts";
import { RELAY_POLICY } from "../domain/relay-policy.ts";
import { RelayQueueFull } from "./relay-errors.ts";

/** What is under way: a bounded number of entries, of which one fee payer has a bounded share. */
export const makeRelayQueue = () => {
  const entries = new Map<LedgerSignature, RelayEntry>();
  const shares = new Map<Address, number>();

  const add = (entry: RelayEntry): void => {
    if (entries.has(entry.signature)) return;
    entries.set(entry.signature, entry);
    shares.set(entry.feePayer, (shares.get(entry.feePayer) ?? 0) + 1);
  };

  return {
    /** Adds whatever the bounds: what the log holds already has to be followed. */
    add,
    /** Adds a new entry, or fails when the queue or its fee payer's share of it is full. */
    admit: (entry: RelayEntry): Effect.Effect<void, RelayQueueFull> =>
      Effect.suspend(() => {
        const { signature, feePayer } = entry;
        const { queueCapacity, queueShareOfFeePayer } = RELAY_POLICY;
        if (entries.size >= queueCapacity)
          return new RelayQueueFull({ signature, scope: "relay", capacity: queueCapacity });
        if ((shares.get(feePayer) ?? 0) >= queueShareOfFeePayer)
          return new RelayQueueFull({
            signature,
            scope: "fee_payer",
            capacity: queueShareOfFeePayer,
          });
        add(entry);
        return Effect.void;
      }),
    remove: ({ signature, feePayer }: RelayEntry): void => {
      if (!entries.delete(signature)) return;
      const left = (shares.get(feePayer) ?? 1) - 1;
      if (left > 0) shares.set(feePayer, left);
      else shares.delete(feePayer);
    },
    all: (): ReadonlyArray<RelayEntry> => [...entries.values()],
    size: (): number => entries.size,
  };
};

/** See `makeRelayQueue`. */
export type RelayQueue = ReturnType<typeof makeRelayQueue>;
