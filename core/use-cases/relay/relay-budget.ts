import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { FeePayerRateLimited } from "./relay-errors.ts";

/** A fee payer has a budget of its own, as large as a client's, whichever clients it sends through. */
const payerKey = (feePayer: Address): string => `fee_payer:${feePayer}`;

/**
 * Takes one relay from the fee payer's budget, and returns whether it did: once a window for the same bytes. Call it
 * after the signature and the blockhash are checked. They show that the payer signed just now; anyone can send old
 * public transactions. Somebody else may hold a fresh transaction that has not landed, and sending it repeatedly must not use up the
 * payer's budget.
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

/** The budget keys of a relay. Null stands for a fee payer that is not charged, or a client that is not known. */
const keysOf = (feePayer: Address | null, client: string | null): ReadonlyArray<string> => [
  ...(feePayer === null ? [] : [payerKey(feePayer)]),
  ...(client === null ? [] : [client]),
];

/** Takes the extra cost of a relay that would have failed, or as much of it as is left. */
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
 * Makes a repetition of a request that still runs cost a read in place of a relay: it sends nothing, and its client is right to
 * ask. Without reads it stays a relay, so that even these are limited.
 */
export const chargeRepetition = Effect.fnUntraced(function* (client: string) {
  const limiter = yield* RateLimiter;
  const { allowed } = yield* limiter.take("reads", client, 1);
  if (allowed) yield* limiter.charge("relay", client, -1);
});

/**
 * Takes the extra cost of an expired relay. It was in the queue for a blockhash's lifetime, so the cost falls into
 * later windows and may be owed.
 */
export const chargeExpired = Effect.fnUntraced(function* (
  feePayer: Address,
  client: string | null,
) {
  const limiter = yield* RateLimiter;
  for (const key of keysOf(feePayer, client))
    yield* limiter.charge("relay", key, RELAY_POLICY.expiredCost - 1);
});
