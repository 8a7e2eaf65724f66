import { Effect } from "effect";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import type { HistoryEntry } from "../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import {
  type FinalizedTip,
  type FinalOutcome,
  isBeyondLifetime,
  type RelayEntry,
  type TransactionError,
} from "../../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../domain/relay/relay-policy.ts";
import { causeOf, effectsOf, type Listed, listSince, readTraces } from "./relay-traces.ts";

/**
 * The outcome of an entry that a node says to have failed up to the finalized `tip`; null when that is not certain,
 * because one false answer would have the payment made twice. The finalized accounts must not show what the transaction
 * would have done, unless another transaction did it. And a node's history must hold the transaction as failed. Where
 * no history holds it, its lifetime must be over, and one of its effects, which come all or none, must surely not be
 * its own. Fails like the ledger.
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
  const asked = yield* effectsOf(entry);
  // The accounts of these effects are not known, so only the history can tell.
  if (asked === null) return own === null ? null : failure;
  const traces = yield* readTraces(asked.effects, tip);
  if (traces === null) return null;
  let isExcluded = traces.some(({ sign }) => sign === "absent");
  let isShown = false;
  for (const { effect, sign } of traces) {
    if (sign !== "shown") continue;
    isShown = true;
    const cause = yield* causeOf(effect, yield* listSince(effect.subject, entry), signature);
    if (cause === null) return null;
    isExcluded ||= cause.excludes;
  }
  if (own !== null) return isShown && !isExcluded && asked.paysBeside ? null : failure;
  const canNotLand = isBeyondLifetime(entry, tip, RELAY_POLICY.expiryMarginBlocks);
  return canNotLand && isExcluded ? failure : null;
});

/** A failure that a node's list tells without its reason. */
const UNKNOWN_ERROR: TransactionError = {
  kind: "Unknown",
  instructionIndex: null,
  instructionError: null,
  customCode: null,
};

const landedAs = Effect.fnUntraced(function* (
  entry: RelayEntry,
  { slot, failed, error }: HistoryEntry,
  tip: FinalizedTip,
) {
  if (failed) return yield* corroborateFailure(entry, { slot, error: error ?? UNKNOWN_ERROR }, tip);
  const success: FinalOutcome = { status: "landed", slot, error: null };
  return success;
});

/**
 * The outcome of an entry that no node knows although its lifetime ended before the finalized `tip`; null when it is
 * not certain. Nodes forget, and some never search their history. So the finalized accounts must not show what the
 * transaction would have done, unless another transaction did it; and the history of each of them, of one node, must
 * reach back to the first slot that can hold the transaction, and not list it. The fee payer's history, whose account
 * held lamports before, counts for an account that does not exist or that another transaction has made since. Where a
 * transaction pays by itself, what accounts do not tell or the ledger takes again is not enough. Fails like the ledger.
 */
export const corroborateExpiry = Effect.fn("corroborateExpiry")(function* (
  entry: RelayEntry,
  tip: FinalizedTip,
) {
  const { signature, feePayer } = entry;
  const asked = yield* effectsOf(entry);
  const traces = asked === null ? null : yield* readTraces(asked.effects, tip);
  if (asked === null || traces === null) return null;
  const ownIn = ({ entries }: Listed) => entries.find((each) => each.signature === signature);
  let isExcluded = traces.some(({ sign }) => sign === "absent");
  let supersededBy: LedgerSignature | null = null;
  for (const { effect, exists, sign } of traces) {
    const isShown = sign === "shown";
    let listed = yield* listSince(exists ? effect.subject : feePayer, entry);
    let own = ownIn(listed);
    const cause = isShown && own === undefined ? yield* causeOf(effect, listed, signature) : null;
    // A node that forgot the time before the account was made has forgotten this transaction's failure, too.
    if (cause !== null && !listed.reachesBack) {
      listed = yield* listSince(feePayer, entry);
      own = ownIn(listed);
    }
    if (own !== undefined) return yield* landedAs(entry, own, tip);
    if (!listed.reachesBack || (isShown && cause === null)) return null;
    isExcluded ||= cause?.excludes === true;
    supersededBy ??= cause?.signature ?? null;
  }
  if (!isExcluded && asked.paysBeside) return null;
  const expired: FinalOutcome = { status: "expired", blockHeight: tip.blockHeight, supersededBy };
  return expired;
});
