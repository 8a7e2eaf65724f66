import { Effect } from "effect";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import {
  type LandedTransaction,
  type RelayEntry,
  statusOnly,
} from "../../../domain/relay/relay-entry.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { RelayDelivery } from "../relay-delivery.ts";

/** What is known of a signature. `entry` is null when this relay has not taken the transaction on. */
export type RelayLookup =
  | { readonly status: "unknown" }
  | { readonly status: "pending"; readonly entry: RelayEntry | null; readonly slot: bigint | null }
  | {
      readonly status: "landed";
      readonly entry: RelayEntry | null;
      readonly landed: LandedTransaction;
    }
  | {
      readonly status: "expired";
      readonly entry: RelayEntry;
      readonly supersededBy: LedgerSignature | null;
    };

const fromLedger = (
  landed: LandedTransaction | null,
  entry: RelayEntry | null,
): Exclude<RelayLookup, { status: "expired" }> => {
  if (landed === null)
    return entry === null ? { status: "unknown" } : { status: "pending", entry, slot: null };
  // A processed block can still be dropped.
  return landed.commitment === "processed"
    ? { status: "pending", entry, slot: landed.slot }
    : { status: "landed", entry, landed: statusOnly(landed) };
};

const asLookup = (lookup: RelayLookup): RelayLookup => lookup;

/**
 * What the relay's log knows of a signature, and the ledger where the log has no outcome. An entry without an outcome
 * is followed from here on if the queue has room, whichever replica took it on. When the ledger does not answer, such
 * an entry counts as pending, and the look-up of any other signature fails. An error at `finalized` is the log's.
 */
export const lookUpRelay = Effect.fn("lookUpRelay")(function* (signature: LedgerSignature) {
  const log = yield* OutcomeLog;
  const broadcaster = yield* Broadcaster;
  const delivery = yield* RelayDelivery;
  const entry = yield* log.find(signature);
  if (entry === null) return asLookup(fromLedger(yield* broadcaster.landed(signature), null));
  const { outcome } = entry;
  if (outcome === null) {
    yield* delivery.follow(entry);
    const landed = yield* broadcaster.landed(signature).pipe(Effect.orElseSucceed(() => null));
    return asLookup(fromLedger(landed, entry));
  }
  if (outcome.status === "expired") {
    const { supersededBy } = outcome;
    return asLookup({ status: "expired", entry, supersededBy });
  }
  const { slot, error } = outcome;
  return asLookup({ status: "landed", entry, landed: { slot, error, commitment: "finalized" } });
});
