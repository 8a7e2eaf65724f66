#pragma once

#include "attestation.h"

/* The timestamp lies within the escrow's life and near the ledger's clock. */
static inline u64 require_fresh(const Escrow *escrow, i64 timestamp, i64 now) {
  REQUIRE(timestamp >= escrow->created_at && timestamp < escrow->expires_at, ERROR_ATTESTATION_OUTSIDE_ESCROW);
  REQUIRE(timestamp >= now - MAX_ATTESTATION_AGE_SECONDS, ERROR_ATTESTATION_STALE);
  REQUIRE(timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS, ERROR_ATTESTATION_FROM_FUTURE);
  return 0;
}

/* Counts a delivery. Counters stop at their maximum rather than block a settlement. */
static inline void count_delivery(Merchant *merchant, const Escrow *escrow, u64 partial_amount,
                                  const Pubkey *settlement_mint) {
  u64 *deliveries = partial_amount == 0 ? &merchant->deliveries : &merchant->partial_deliveries;
  if (*deliveries != ~0ull) (*deliveries)++;
  if (!same32(&escrow->mint, settlement_mint)) return;
  if (merchant->reputation != 0xffffffffu) merchant->reputation++;
  u64 delivered = partial_amount == 0 ? escrow->amount : partial_amount;
  merchant->volume = delivered > ~0ull - merchant->volume ? ~0ull : merchant->volume + delivered;
}

NOINLINE u64 verify_attestation(Input *input) {
  TRY(require_shape(input, VERIFY_ATTESTATION_ACCOUNTS, VERIFY_ATTESTATION_SIGNERS, VERIFY_ATTESTATION_WRITABLES,
                    VERIFY_ATTESTATION_ARGS_SIZE));
  const VerifyAttestationArgs *args = (const VerifyAttestationArgs *)input->data;
  const AccountInfo *account = input->account;
  const AccountInfo *sysvar = &account[VERIFY_ATTESTATION_INSTRUCTIONS_SYSVAR];
  const AccountInfo *escrow_account = &account[VERIFY_ATTESTATION_ESCROW];
  Registry *registry;
  const Escrow *escrow;
  Merchant *merchant;
  TRY(load_registry(input, &account[VERIFY_ATTESTATION_REGISTRY], &registry));
  TRY(load_pending_escrow(escrow_account, &registry->custody_program, &escrow));
  TRY(load_merchant(input, &account[VERIFY_ATTESTATION_MERCHANT], &merchant));
  REQUIRE(same32(&merchant->merchant, &escrow->merchant), ERROR_WRONG_MERCHANT);
  REQUIRE(escrow->created_seq > merchant->revoked_seq, ERROR_ESCROW_REVOKED);
  REQUIRE(same32(sysvar->key, &ADDRESS_INSTRUCTIONS_SYSVAR), ERROR_WRONG_INSTRUCTIONS_SYSVAR);

  i64 now = ledger_time();
  const Bytes64 *signature;
  const Message message = {*escrow_account->key, args->proof_hash, args->timestamp, args->partial_amount};
  TRY(find_attestation(sysvar, &escrow->attestor, &message, &signature));
  TRY(require_fresh(escrow, args->timestamp, now));
  count_delivery(merchant, escrow, args->partial_amount, &registry->settlement_mint);
  merchant->updated_at = now;
  sol_set_return_data(signature, 64);
  return 0;
}
