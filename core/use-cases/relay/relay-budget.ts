import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { FeePayerRateLimited } from "./relay-errors.ts";

/** A fee payer has a budget of its own, as large as a client's, however many clients it sends through. */
const payerKey = (feePayer: Address): string => `fee_payer:${feePayer}`;

/**
 * Takes one relay from the fee payer's budget, once a window for the same bytes, and tells whether it did. A valid
 * signature has shown that the transaction is the payer's own, and a valid blockhash that the payer signed it just
 * now: old ones are public, for anyone to bring. Who holds one that is not on the ledger yet can bring it many times,
 * which must not use up what the payer has.
 */
export const takePayerBudget = Effect.fnUntraced(function* (
  feePayer: Address,
  signature: LedgerSignature,
) {
  const limiter = yield* RateLimiter;
  const { limits } = limiter;
  const bytesKey = `transaction:${signature}`;
  const seen = yield* limiter.take("relay", bytesKey, 0);
  if (seen.remaining < limits.relay) return false;
  const { allowed, resetSeconds } = yield* limiter.take("relay", payerKey(feePayer), 1);
  if (!allowed) return yield* new FeePayerRateLimited({ signature, resetSeconds });
  yield* limiter.take("relay", bytesKey, 1);
  return true;
});

/** The keys of whoever relays; null for a fee payer who is not charged and for a client who is not known. */
const keysOf = (feePayer: Address | null, client: string | null): ReadonlyArray<string> => [
  ...(feePayer === null ? [] : [payerKey(feePayer)]),
  ...(client === null ? [] : [client]),
];

/** Takes what a relay that would have failed costs beyond its own one, or as much of it as is left. */
export const chargeFailedPreflight = Effect.fnUntraced(function* (
  feePayer: Address | null,
  client: string | null,
) {
  const limiter = yield* RateLimiter;
  for (const key of keysOf(feePayer, client)) {
    const extra = RELAY_POLICY.failedPreflightCost - 1;
    const { allowed, remaining } = yield* limiter.take("relay", key, extra);
    if (!allowed && remaining > 0) yield* limiter.take("relay", key, remaining);
  }
});

/**
 * Takes what a relay that expired costs beyond its own one. It had a place in the queue for as long as a
 * blockhash lives, so that its cost falls into later windows than the relay itself, and is owed there.
 */
export const chargeExpired = Effect.fnUntraced(function* (
  feePayer: Address,
  client: string | null,
) {
  const limiter = yield* RateLimiter;
  for (const key of keysOf(feePayer, client))
    yield* limiter.charge("relay", key, RELAY_POLICY.expiredCost - 1);
});
