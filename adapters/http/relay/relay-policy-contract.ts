import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { SETTLEMENT_RULES } from "../../../core/domain/relay/settlement-rule.ts";
import { readRelayPolicy } from "../../../core/use-cases/relay/relay-admission.ts";
import { Instance } from "../../../ports/instance.ts";
import { type RateDecision, RateLimiter } from "../../../ports/rate-limiter.ts";
import { Address, Count, oneOf, record } from "../openapi/values.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";

/** Every rule and number the relay enforces. */
export const RelayPolicy = record("RelayPolicy", "Every rule and number the relay enforces.", {
  encodings: Type.Array(Type.Literal("base64")),
  transaction_versions: Type.Array(Type.String()),
  max_transaction_bytes: Count("The most bytes of a serialized transaction."),
  required_programs: Type.Array(Address("A program."), {
    description: "A transaction must call at least one of these at top level.",
  }),
  allowed_programs: Type.Array(Address("A program."), {
    description: "It may call no program but these.",
  }),
  signatures: record("RelaySignaturePolicy", "The requirements on signatures.", {
    all_required: Type.Literal(true, {
      type: "boolean",
      description: "Every required signature must be present.",
    }),
    verified_before_sending: Type.Literal(true, {
      type: "boolean",
      description: "Each is verified, strictly, before anything is sent.",
    }),
  }),
  durable_nonces: Type.Literal(false, { type: "boolean", description: "They are refused." }),
  max_compute_units: Count("The most compute units a transaction may ask for."),
  max_compute_unit_price: Count("The most micro-lamports it may pay for each."),
  settlement_check: record("RelaySettlementCheck", "What is checked against the live escrow.", {
    rules: Type.Array(oneOf(SETTLEMENT_RULES, "A rule that a refusal can name.")),
    clock_margin_seconds: Count("How far the ledger's clock may be off in these checks."),
  }),
  rebroadcast_ms: Count("How often a transaction that has not landed is sent again."),
  queue: record("RelayQueue", "How many transactions may wait for their outcome.", {
    capacity: Count("Of everyone."),
    share_of_client: Count(
      "The share of one client address in an empty queue; an IPv6 address counts as its /64. The share shrinks with the square of the queue's free part, down to one.",
    ),
    share_of_fee_payer: Count("The largest share of one fee payer; it shrinks in the same way."),
  }),
  idempotency_key_seconds: Count("How long an Idempotency-Key is kept."),
  preflight: Type.Literal("unless_skipped", {
    description: "A simulation runs first; `skip_preflight` ignores the errors of programs in it.",
  }),
  never_skipped: Type.Array(Type.String(), {
    description:
      "The errors of a simulation that `skip_preflight` does not ignore, because no instruction can run after them. Invalid Compute Budget data and a fee payer with too little rent are refused too.",
  }),
  confirm_timeout_ms: Count("How long `confirm` waits."),
  beta_limits_enforced: Type.Boolean(),
  rate_limit: record("RelayRateLimit", "The budget of one client address, and of one fee payer.", {
    requests: Count("Requests per window; one with a large body counts as several."),
    window_seconds: Count("Window length, seconds."),
    of_each: Type.Array(oneOf(["client", "fee_payer"], "Who has a budget of this size.")),
    failed_preflight_cost: Count(
      "What a relay costs when a check or simulation finds it would fail.",
    ),
    expired_cost: Count("The total cost of a relay that expires without landing."),
    max_owed_windows: Count("How many further windows such costs can use up at most."),
  }),
  private_keys: Type.Literal("never accepted"),
});
/** The limits of the relay as JSON. */
export type RelayPolicyRecord = Static<typeof RelayPolicy>;

/** The relay's policy as JSON. */
export const relayPolicyRecord = (
  policy: Effect.Success<typeof readRelayPolicy>,
): RelayPolicyRecord => ({
  encodings: [...policy.encodings],
  transaction_versions: [...policy.transactionVersions],
  max_transaction_bytes: policy.maxTransactionBytes,
  required_programs: [...policy.requiredPrograms],
  allowed_programs: [...policy.allowedPrograms],
  signatures: { all_required: true, verified_before_sending: true },
  durable_nonces: false,
  max_compute_units: policy.maxComputeUnits,
  max_compute_unit_price: Number(policy.maxComputeUnitPrice),
  settlement_check: {
    rules: [...SETTLEMENT_RULES],
    clock_margin_seconds: Number(policy.clockMarginSeconds),
  },
  preflight: "unless_skipped",
  never_skipped: [...policy.neverSkipped],
  rebroadcast_ms: policy.rebroadcastMs,
  queue: {
    capacity: policy.queueCapacity,
    share_of_client: policy.queueShareOfClient,
    share_of_fee_payer: policy.queueShareOfFeePayer,
  },
  idempotency_key_seconds: policy.idempotencyKeyTtlMs / 1000,
  confirm_timeout_ms: policy.confirmTimeoutMs,
  beta_limits_enforced: policy.enforceBetaLimits,
  rate_limit: {
    requests: policy.rateLimit.requests,
    window_seconds: policy.rateLimit.windowSeconds,
    of_each: ["client", "fee_payer"],
    failed_preflight_cost: policy.failedPreflightCost,
    expired_cost: policy.expiredCost,
    max_owed_windows: policy.rateLimit.maxOwedWindows,
  },
  private_keys: "never accepted",
});

const ALLOWED: RateDecision = {
  allowed: true,
  limit: 120,
  windowSeconds: 60,
  remaining: 119,
  resetSeconds: 60,
};

const sampleLimiter = RateLimiter.of({
  take: () => Effect.succeed(ALLOWED),
  charge: () => Effect.void,
  limits: { reads: 1200, prepare: 600, relay: 120, sync: 20 },
  windowSeconds: 60,
});

/** The policy of the sample instance. */
export const relayPolicyExample = () =>
  relayPolicyRecord(
    Effect.runSync(
      readRelayPolicy.pipe(
        Effect.provideService(Instance, sampleInstance()),
        Effect.provideService(RateLimiter, sampleLimiter),
      ),
    ),
  );
