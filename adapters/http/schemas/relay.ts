import { type Static, Type } from "@sinclair/typebox";
import { SETTLEMENT_RULES } from "../../../core/domain/relay/settlement-rule.ts";
import { ProgramError, TransactionError } from "./problem.ts";
import { Address, Count, nullable, oneOf, record, Signature, Slot } from "../openapi/values.ts";

/** The body of `POST /v1/relay`. */
export const RelayRequest = record("RelayRequest", "A fully signed transaction.", {
  signed_transaction: Type.String({
    minLength: 1,
    description: "The serialized, fully signed transaction in base64.",
  }),
  encoding: Type.Optional(Type.Literal("base64", { default: "base64" })),
  confirm: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Wait for a confirmation, up to the policy's limit.",
    }),
  ),
  skip_preflight: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Send whatever a program says in the simulation. What can never run is refused all the same.",
    }),
  ),
});

/** What became of a relayed transaction so far. */
export const RelayResult = record("RelayResult", "What became of the transaction so far.", {
  signature: Signature("Names the transaction. Sending it again is safe."),
  status: oneOf(
    ["submitted", "confirmed", "finalized"],
    "`submitted` says nothing about the outcome yet.",
  ),
  slot: nullable(Slot("Where it landed."), { description: "Null while only submitted." }),
  fee_payer: Address("Who pays the fee."),
  explorer_url: Type.String({ description: "A page about the transaction." }),
});
export type RelayResultRecord = Static<typeof RelayResult>;

/** What became of a transaction, and whether another may be signed in its place. */
export const RelayOutcome = record("RelayOutcome", "What is known of a transaction.", {
  signature: Signature("Names the transaction."),
  status: oneOf(
    ["landed", "pending", "expired"],
    "`landed`: in a block, with or without an error. `expired`: it never landed and never can. `pending`: neither is known yet.",
  ),
  commitment: nullable(oneOf(["processed", "confirmed", "finalized"], "How settled its block is.")),
  slot: nullable(Slot("The slot of its block.")),
  error: nullable(TransactionError, { description: "Why it failed where it landed." }),
  program: nullable(Address("The program of the failing instruction, where it is known.")),
  program_error: nullable(ProgramError),
  logs: Type.Array(Type.String(), {
    description: "Log lines of a failure, where the ledger has them.",
  }),
  last_valid_block_height: nullable(
    Count("No higher block can hold it; null where this relay did not send it."),
  ),
  safe_to_sign_again: Type.Boolean({
    description:
      "True only when signing the payment again cannot pay twice: it expired, or failed at `finalized`.",
  }),
  explorer_url: Type.String({ description: "A page about the transaction." }),
});
export type RelayOutcomeRecord = Static<typeof RelayOutcome>;

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
  signatures: record("RelaySignaturePolicy", "What is asked of signatures.", {
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
      "Of one client address, an IPv6 one by its /64, while nothing waits. The share shrinks with the square of the part that is free, to one.",
    ),
    share_of_fee_payer: Count("Of one fee payer at most; its share shrinks likewise."),
  }),
  idempotency_key_seconds: Count("How long an Idempotency-Key is remembered."),
  preflight: Type.Literal("unless_skipped", {
    description: "A simulation comes first; `skip_preflight` skips what a program finds there.",
  }),
  never_skipped: Type.Array(Type.String(), {
    description:
      "The errors of a simulation that `skip_preflight` does not skip, since no instruction can run; invalid Compute Budget data and a fee payer with too little rent are refused too.",
  }),
  confirm_timeout_ms: Count("How long `confirm` waits."),
  beta_limits_enforced: Type.Boolean(),
  rate_limit: record("RelayRateLimit", "Of one client address, and of one fee payer.", {
    requests: Count("So many requests, one with a large body counting for several,"),
    window_seconds: Count("in so many seconds."),
    of_each: Type.Array(oneOf(["client", "fee_payer"], "Who has a budget of this size.")),
    failed_preflight_cost: Count(
      "What a relay costs when a check or simulation finds it would fail.",
    ),
    expired_cost: Count("What a relay costs in all when it expires without landing."),
    max_owed_windows: Count("How many further windows such costs can use up at most."),
  }),
  private_keys: Type.Literal("never accepted"),
});
export type RelayPolicyRecord = Static<typeof RelayPolicy>;
