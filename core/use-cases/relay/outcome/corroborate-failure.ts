import { Effect } from "effect";
import type { FinalOutcome, RelayEntry } from "../../../domain/relay/relay-entry.ts";
import { type FinalizedTip, isBeyondLifetime } from "../../../domain/relay/relay-lifetime.ts";
import { RELAY_POLICY } from "../../../domain/relay/relay-policy.ts";
import type { TransactionError } from "../../../domain/relay/transaction-outcome.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { causeOf, effectsOf, listSince, readTraces } from "./relay-traces.ts";

/**
 * The outcome of an entry that a node says to have failed up to the finalized `tip`; null when that is not certain,
 * because one false answer would have the payment made twice. The finalized accounts must not show what the transaction
 * would have done, unless another transaction did it. And a node's history must hold the transaction as failed. Where no
 * history holds it, its lifetime must be over, and each effect must be one that accounts show. Fails like the ledger.
 */
export const corroborateFailure = Effect.fn("corroborateFailure")(function* (
  entry: RelayEntry,
  { slot, error }: { readonly slot: bigint; readonly error: TransactionError },
  tip: FinalizedTip,
) {
  const { signature } = entry;
  const ledger = yield* Ledger;
  const failure: FinalOutcome = { status: "landed", slot, error };
  const own = yield* ledger.transaction(signature);
  if (own !== null && !own.failed) return null;
  const effects = yield* effectsOf(entry);
  // The accounts of these effects are not known, so only the history can tell.
  if (effects === null) return own === null ? null : failure;
  const traces = yield* readTraces(effects, tip);
  if (traces === null) return null;
  for (const { effect, isShown } of traces) {
    if (!isShown) continue;
    const cause = yield* causeOf(effect, yield* listSince(effect.subject, entry), signature);
    if (cause === null) return null;
  }
  if (own !== null) return failure;
  const canNotLand = isBeyondLifetime(entry, tip, RELAY_POLICY.expiryMarginBlocks);
  const isTold = effects.every(({ kind }) => kind !== "other");
  return canNotLand && isTold ? failure : null;
});
