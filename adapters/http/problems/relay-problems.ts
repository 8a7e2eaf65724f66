import { BYTES_A_POINT } from "../request/request-body.ts";
import { kind, type ProblemKind } from "./problem-kind.ts";

/** Problems of a transaction that is relayed, and of idempotency keys, budgets and shares. */
export const RELAY_PROBLEMS = {
  transaction_malformed: kind(
    422,
    "The transaction cannot be read",
    "The text is not canonical base64, or its bytes are not exactly one serialized transaction.",
    "Serialize the signed transaction with a Solana library and send its base64 unchanged.",
  ),
  transaction_too_large: kind(
    422,
    "The transaction is too large",
    "A serialized transaction may have at most 1232 bytes, signatures included.",
    "Split the work over several transactions.",
  ),
  signature_missing: kind(
    422,
    "A signature is missing",
    "The transaction requires a signature that it does not carry. The relay never signs.",
    "Let every required signer sign before relaying.",
  ),
  signature_invalid: kind(
    422,
    "A signature does not verify",
    "A signature is not valid for the transaction's message under its signer's key.",
    "Sign the exact message that is sent; do not change the transaction after signing.",
  ),
  program_not_allowed: kind(
    422,
    "The transaction calls a program that the relay does not allow",
    "The relay sends transactions that call the custody or attestor program, and may also call a short list of others.",
    "Compare the transaction's programs with `GET /v1/relay`.",
  ),
  lookup_table_not_allowed: kind(
    422,
    "A program is named through an address table",
    "Programs must be named in the transaction itself, not through an address lookup table.",
    "Build the transaction without address lookup tables.",
  ),
  durable_nonce_not_allowed: kind(
    422,
    "Durable nonces are not relayed",
    "A transaction with a durable nonce never expires, so its outcome could stay open for ever.",
    "Build the transaction with a recent blockhash.",
  ),
  compute_budget_exceeded: kind(
    422,
    "The transaction asks for too much computing",
    "The Compute Budget instructions ask for more compute units, or pay more for each, than the relay allows. The limits are in `GET /v1/relay`.",
    "Lower the unit limit or the unit price to what `max` says and sign again.",
  ),
  compute_budget_invalid: kind(
    422,
    "The ledger does not accept a Compute Budget instruction",
    "An instruction of the Compute Budget program is unknown, too short, a second one of its kind, or has a value out of range. The ledger drops such a transaction before it runs, whatever its state. Nothing was sent.",
    "Correct the instruction `instruction_index` as `detail` says and sign again.",
  ),
  settlement_check_failed: kind(
    422,
    "An instruction cannot succeed on the ledger",
    "The transaction was compared with the escrow, the merchant and the ledger's clock before sending, and the rule that `rule` names does not hold. Nothing was sent.",
    "Correct what `detail` names in the instruction `instruction_index` and sign again. `/docs/relay.md#checks-against-the-ledger` lists the rules.",
  ),
  fee_payer_cannot_pay: kind(
    422,
    "The fee payer cannot pay",
    "At `confirmed`, the fee payer's balance does not cover the transaction's fee, or paying it would leave less than the rent minimum. Nothing was sent.",
    "Fund the fee payer; on a test network, use a faucet. The same transaction can then be sent again while its blockhash is valid.",
  ),
  transaction_rejected: kind(
    422,
    "The ledger refuses the transaction",
    "Simulation, or the ledger itself, found that the transaction fails. `error`, `program_error` and `logs` say why. `skip_preflight` ignores errors of programs, but not errors that keep the transaction from running at all.",
    "Correct what the program's error names, and sign again. If the answer has `slot`, the transaction has landed: ask `GET /v1/relay/{signature}`, and sign again once `safe_to_sign_again` is true.",
  ),
  blockhash_expired: kind(
    422,
    "The blockhash is not valid",
    "The ledger does not accept the transaction's blockhash: it is too old, or newer than what is confirmed. The transaction has not landed as far as is known, and this request sent nothing.",
    "If nobody else was given these bytes and every answer to them says that nothing was sent, prepare and sign again. Otherwise ask `GET /v1/relay/{signature}`, and sign again once `safe_to_sign_again` is true.",
  ),
  idempotency_key_reused: kind(
    422,
    "The key belongs to another request",
    "The same `Idempotency-Key` came with another body before.",
    "Use a new key for a new request, and the same key only to repeat one unchanged.",
  ),
  rate_limited: kind(
    429,
    "Too many requests",
    `The request costs more than is left of this client address's budget for this kind of request. It costs one point, plus one for each further ${BYTES_A_POINT} bytes or part of them in its body.`,
    "Wait for the seconds in `Retry-After`. `RateLimit` on every answer shows what is left.",
  ),
  relay_share_full: kind(
    429,
    "Too many pending transactions",
    "This client address or this fee payer has as many pending transactions as it may have; `holder` says which of the two. The share shrinks as the relay's queue fills, so that there is room for others. Nothing was sent.",
    "Send the same transaction again after the seconds in `Retry-After`. A place is free again when one of the pending transactions is finalized or has expired.",
  ),
} as const satisfies Readonly<Record<string, ProblemKind>>;
