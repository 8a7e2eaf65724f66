/**
 * The rules that a transaction's custody instructions are checked against before it is sent; a refusal
 * names the one that fails. Names are stable. See docs/relay.md.
 */
export const SETTLEMENT_RULES = [
  "unknown_instruction",
  "wrong_account_count",
  "wrong_account",
  "not_an_escrow",
  "not_pending",
  "expired",
  "not_expired",
  "amount_out_of_range",
  "ttl_out_of_range",
  "payout_account_wrong_owner",
  "payout_account_wrong_mint",
  "ed25519_missing",
  "ed25519_misplaced",
  "ed25519_malformed",
  "ed25519_points_elsewhere",
  "attestation_signature_invalid",
  "wrong_attestor_key",
  "terms_differ",
  "message_differs",
  "attestation_stale",
  "attestation_in_future",
  "attestation_outside_escrow",
  "escrow_address_taken",
  "merchant_unregistered",
  "merchant_suspended",
  "payout_account_shared",
  "payout_account_not_associated",
  "payout_account_unusable",
  "attestor_changed",
  "attestor_revoked",
  "attestor_unusable",
  "escrow_archived",
  "not_settled",
  "not_archivable",
  "last_bytes_differ",
  "not_session",
  "session_closing",
  "voucher_missing",
  "voucher_signature_invalid",
  "wrong_session_key",
  "wrong_voucher",
  "deliveries_fall",
] as const;
/** One of `SETTLEMENT_RULES`. */
export type SettlementRule = (typeof SETTLEMENT_RULES)[number];

/** A rule that does not hold, and why: a sentence without its full stop. */
export type SettlementFault = { readonly rule: SettlementRule; readonly detail: string };
