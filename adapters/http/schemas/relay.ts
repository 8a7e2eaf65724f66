import { type Static, Type } from "@sinclair/typebox";
import { Address, Count, nullable, oneOf, record, Signature, Slot } from "./values.ts";

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
    Type.Boolean({ default: false, description: "Do not simulate before sending." }),
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
  preflight: Type.Literal("unless_skipped", {
    description: "A simulation comes first unless `skip_preflight` is set.",
  }),
  confirm_timeout_ms: Count("How long `confirm` waits."),
  beta_limits_enforced: Type.Boolean(),
  rate_limit: record("RelayRateLimit", "Of one client address.", {
    requests: Count("So many requests"),
    window_seconds: Count("in so many seconds."),
  }),
  private_keys: Type.Literal("never accepted"),
});
export type RelayPolicyRecord = Static<typeof RelayPolicy>;
