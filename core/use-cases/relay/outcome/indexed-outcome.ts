import { Effect } from "effect";
import type { FinalOutcome, RelayEntry } from "../../../domain/relay/relay-entry.ts";
import type { EffectKind } from "../../../protocol/rules/instruction-records.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { effectsOf } from "./relay-traces.ts";

/** An escrow has at most this many events of the kinds that a relay would look for among its newest. */
const NEWEST_EVENTS = 8;

/** The effects that an event of the escrow stands for. */
const TOLD: ReadonlySet<EffectKind> = new Set(["create", "release", "cancel", "refund"]);

/**
 * The outcome of an entry by the index, without a call of a node: its transaction has made an event that the ledger's
 * root proves, as a finalized history showed it. Null when the index does not have such an event, and when the store
 * does not answer; that says nothing.
 */
export const indexedOutcome = Effect.fnUntraced(function* (entry: RelayEntry) {
  const done = yield* effectsOf(entry);
  const escrow = done?.effects.find(({ kind }) => TOLD.has(kind))?.subject;
  if (escrow === undefined) return null;
  const index = yield* IndexReader;
  const events = yield* index
    .events({ escrow }, NEWEST_EVENTS, { before: null })
    .pipe(Effect.orElseSucceed(() => []));
  const own = events.find(({ signature }) => signature === entry.signature);
  if (own === undefined || own.slot === null) return null;
  const outcome: FinalOutcome = { status: "landed", slot: own.slot, error: null };
  return outcome;
});
