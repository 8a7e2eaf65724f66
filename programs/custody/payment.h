#pragma once

#include "payout.h"
#include "proof.h"
#include "vault.h"

/* What a capture and a release have in common: the merchant of a Pending escrow is paid for what is proven. Lives on the heap. */

_Static_assert(CAPTURE_ESCROW == RELEASE_ESCROW_ESCROW && CAPTURE_VAULT == RELEASE_ESCROW_VAULT &&
                   CAPTURE_MERCHANT == RELEASE_ESCROW_MERCHANT &&
                   CAPTURE_MERCHANT_TOKEN_ACCOUNT == RELEASE_ESCROW_MERCHANT_TOKEN_ACCOUNT &&
                   CAPTURE_MERCHANT_FALLBACK_ACCOUNT == RELEASE_ESCROW_MERCHANT_FALLBACK_ACCOUNT &&
                   CAPTURE_CONFIG == RELEASE_ESCROW_CONFIG && CAPTURE_ARGS_SIZE == RELEASE_ESCROW_ARGS_SIZE &&
                   __builtin_offsetof(CaptureArgs, merchant_token_bump) ==
                       __builtin_offsetof(ReleaseEscrowArgs, merchant_token_bump),
               "one way to load them");

typedef struct {
  LoadedEscrow escrow;
  CustodyConfig *config;
  const AccountInfo *vault;
  const AccountInfo *paid;
  Proof proof;
  u64 total; /* what the merchant has got after the payment */
  u64 due;   /* what of it is not captured yet */
} Payment;

/* The escrow can still be paid, out of its own vault, to an account of its own merchant, who did not revoke it. */
NOINLINE u64 load_payment(const Input *input, const AccountInfo *token_program, bool final, i64 now, Payment *payment) {
  const AccountInfo *account = input->account;
  const AccountInfo *merchant = &account[CAPTURE_MERCHANT];
  TRY(load_pending_escrow(input, &account[CAPTURE_ESCROW], &payment->escrow));
  const Escrow *escrow = payment->escrow.data;
  REQUIRE(final || is_session(escrow), ERROR_NOT_SESSION);
  REQUIRE(now < end_of(escrow), ERROR_EXPIRED);
  TRY(load_config(input, &account[CAPTURE_CONFIG], &payment->config));
  TRY(require_merchant(merchant, &escrow->merchant, &payment->config->attestor_program));
  REQUIRE(escrow->created_seq > ((const Merchant *)merchant->data)->revoked_seq, ERROR_ESCROW_REVOKED);
  payment->vault = &account[CAPTURE_VAULT];
  TRY(require_vault(&payment->escrow, payment->vault, token_program));
  const Payee payee = {
      .wallet = &escrow->merchant,
      .associated = &account[CAPTURE_MERCHANT_TOKEN_ACCOUNT],
      .fallback = &account[CAPTURE_MERCHANT_FALLBACK_ACCOUNT],
      .wrong = ERROR_WRONG_MERCHANT_TOKEN_ACCOUNT,
      .bump = ((const CaptureArgs *)input->data)->merchant_token_bump,
  };
  return choose_payout(input, &payee, &escrow->mint, &payment->paid);
}

/* Finds the proof in the transaction, verifies it, and keeps it in the escrow. */
NOINLINE u64 prove_payment(const AccountInfo *instructions_sysvar, bool final, i64 now, Payment *payment) {
  Escrow *escrow = payment->escrow.data;
  Proof *proof = &payment->proof;
  Named wanted = {.domain = payment->config->domain};
  REQUIRE(same32(instructions_sysvar->key, &ADDRESS_INSTRUCTIONS_SYSVAR), ERROR_WRONG_INSTRUCTIONS_SYSVAR);
  hash_terms(escrow, &wanted.terms);
  TRY(find_proof(instructions_sysvar, &wanted, is_session(escrow), proof));
  TRY(require_attested(escrow, proof, final, now));
  if (is_session(escrow)) TRY(require_vouched(escrow, proof, final));
  u64 total = proof->attestation->total;
  REQUIRE(total > (final ? 0 : escrow->released) && total >= escrow->released && total <= escrow->amount,
          ERROR_INVALID_AMOUNT);
  u32 deliveries = (u32)count_in(proof->attestation->deliveries);
  REQUIRE(deliveries >= escrow->deliveries, ERROR_DELIVERIES_FALL);
  payment->total = total;
  payment->due = total - escrow->released;
  escrow->deliveries = deliveries;
  escrow->proof_hash = proof->attestation->proof_hash;
  escrow->attested_at = proof->attestation->timestamp;
  escrow->attestation_signature = *proof->signature;
  return 0;
}
