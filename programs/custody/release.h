#pragma once

#include "../sdk/event.h"
#include "attestation.h"
#include "ledger-event.h"
#include "payout.h"
#include "vault.h"

/* A release as asked for: the same for release_escrow and release_partial but for the agent's part. */
typedef struct {
  Bytes32 proof_hash;
  i64 timestamp;
  u64 partial_amount; /* 0: all of it */
  const AccountInfo *vault;
  const AccountInfo *merchant;
  const AccountInfo *rent_payer;
  const AccountInfo *config;
  const AccountInfo *registry;
  const AccountInfo *attestor_program;
  const AccountInfo *instructions_sysvar;
  const AccountInfo *token_program;
  Payee merchant_payee;
  Payee agent_payee; /* partial only */
  bool is_partial;
  LoadedEscrow escrow;
} Release;

/* Verifies the attestation and keeps it in the escrow, `total` being what the merchant gets. */
NOINLINE u64 keep_attestation(Release *release, const CustodyConfig *config, u64 total, i64 now) {
  Escrow *escrow = release->escrow.data;
  const SignedAttestation *found;
  Attestation wanted = {
      .tag = ATTESTATION_TAG,
      .domain = config->domain,
      .proof_hash = release->proof_hash,
      .total = total,
      .timestamp = release->timestamp,
      .deliveries = ONE_FINAL_DELIVERY,
  };
  REQUIRE(same32(release->instructions_sysvar->key, &ADDRESS_INSTRUCTIONS_SYSVAR), ERROR_WRONG_INSTRUCTIONS_SYSVAR);
  hash_terms(escrow, &wanted.terms);
  TRY(find_attestation(release->instructions_sysvar, &wanted, &found));
  TRY(require_attested(found, &wanted, &escrow->attestor));
  TRY(require_fresh(escrow, release->timestamp, now));
  escrow->proof_hash = release->proof_hash;
  escrow->attested_at = release->timestamp;
  escrow->attestation_signature = found->signature;
  return 0;
}

/* Has the recorded attestor program count the delivery. The escrow's signature is lent to that program with nothing writable beside it
   but the merchant's own account, checked before. The registry is for the attestor program to check: only it reads it. */
NOINLINE u64 record_delivery(const Input *input, Release *release, u64 total) {
  Call *call = new_call(release->attestor_program->key);
  call_account(call, release->escrow.account, true, false);
  call_account(call, release->merchant, false, true);
  call_account(call, release->registry, false, false);
  call_u64(call, IX_RECORD_DELIVERY);
  call_u64(call, total);
  return invoke(call, input, release->escrow.seeds, ESCROW_SEEDS);
}

NOINLINE void emit_escrow_released(const Pubkey *key, const Escrow *escrow) {
  const EscrowReleased event = {
      .discriminator = EVENT_ESCROW_RELEASED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .proof_hash = escrow->proof_hash,
      .attestor = escrow->attestor,
      .attested_at = escrow->attested_at,
      .settled_at = escrow->settled_at,
      .seq = escrow->settled_seq,
  };
  emit(&event, ESCROW_RELEASED_SIZE);
}

NOINLINE void emit_escrow_partially_released(const Pubkey *key, const Escrow *escrow) {
  const EscrowPartiallyReleased event = {
      .discriminator = EVENT_ESCROW_PARTIALLY_RELEASED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .released = escrow->released,
      .refunded = escrow->amount - escrow->released,
      .proof_hash = escrow->proof_hash,
      .attestor = escrow->attestor,
      .attested_at = escrow->attested_at,
      .settled_at = escrow->settled_at,
      .seq = escrow->settled_seq,
  };
  emit(&event, ESCROW_PARTIALLY_RELEASED_SIZE);
}

/* Both payout accounts, in `paid`: the merchant's and, for a partial release, the agent's. */
NOINLINE u64 choose_payouts(const Input *input, Release *release, const AccountInfo **paid) {
  const Escrow *escrow = release->escrow.data;
  release->merchant_payee.wallet = &escrow->merchant;
  release->merchant_payee.wrong = ERROR_WRONG_MERCHANT_TOKEN_ACCOUNT;
  TRY(choose_payout(input, &release->merchant_payee, &escrow->mint, &paid[0]));
  if (!release->is_partial) return 0;
  release->agent_payee.wallet = &escrow->agent_owner;
  release->agent_payee.wrong = ERROR_WRONG_AGENT_TOKEN_ACCOUNT;
  TRY(choose_payout(input, &release->agent_payee, &escrow->mint, &paid[1]));
  REQUIRE(release->partial_amount > 0 && release->partial_amount < escrow->amount, ERROR_INVALID_AMOUNT);
  return 0;
}

NOINLINE u64 settle_release(const Input *input, const AccountInfo *account, Release *release) {
  LoadedEscrow *loaded = &release->escrow;
  const AccountInfo *paid[2];
  CustodyConfig *config;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, account, loaded));
  Escrow *escrow = loaded->data;
  REQUIRE(now < escrow->expires_at, ERROR_EXPIRED);
  TRY(load_config(input, release->config, &config));
  REQUIRE(same32(release->attestor_program->key, &config->attestor_program), ERROR_WRONG_ATTESTOR_PROGRAM);
  TRY(require_merchant(release->merchant, &escrow->merchant, &config->attestor_program));
  REQUIRE(escrow->created_seq > ((const Merchant *)release->merchant->data)->revoked_seq, ERROR_ESCROW_REVOKED);
  TRY(require_vault(loaded, release->vault, release->rent_payer, release->token_program));
  TRY(choose_payouts(input, release, paid));
  u64 total = release->is_partial ? release->partial_amount : escrow->amount;
  TRY(keep_attestation(release, config, total, now));
  TRY(record_delivery(input, release, total));

  u64 held = token_amount(release->vault);
  u64 to_merchant = release->is_partial ? total : held;
  TRY(pay_from_vault(input, loaded, release->vault, paid[0], to_merchant));
  if (release->is_partial) TRY(pay_from_vault(input, loaded, release->vault, paid[1], held - to_merchant));
  TRY(close_vault(input, loaded, release->vault, release->rent_payer));

  escrow->state = release->is_partial ? ESCROW_STATE_PARTIALLY_FULFILLED : ESCROW_STATE_FULFILLED;
  escrow->released = total;
  escrow->settled_at = now;
  TRY(number_event(config, loaded->account, &escrow->settled_seq));
  if (release->is_partial)
    emit_escrow_partially_released(loaded->account->key, escrow);
  else
    emit_escrow_released(loaded->account->key, escrow);
  return 0;
}

NOINLINE u64 release_escrow(Input *input) {
  TRY(require_shape(input, RELEASE_ESCROW_ACCOUNTS, RELEASE_ESCROW_SIGNERS, RELEASE_ESCROW_WRITABLES,
                    RELEASE_ESCROW_ARGS_SIZE));
  const ReleaseEscrowArgs *args = (const ReleaseEscrowArgs *)input->data;
  const AccountInfo *account = input->account;
  Release *release = (Release *)HEAP_STATE;
  release->proof_hash = args->proof_hash;
  release->timestamp = args->timestamp;
  release->vault = &account[RELEASE_ESCROW_VAULT];
  release->merchant = &account[RELEASE_ESCROW_MERCHANT];
  release->merchant_payee.associated = &account[RELEASE_ESCROW_MERCHANT_TOKEN_ACCOUNT];
  release->merchant_payee.fallback = &account[RELEASE_ESCROW_MERCHANT_FALLBACK_ACCOUNT];
  release->merchant_payee.bump = args->merchant_token_bump;
  release->rent_payer = &account[RELEASE_ESCROW_RENT_PAYER];
  release->config = &account[RELEASE_ESCROW_CONFIG];
  release->registry = &account[RELEASE_ESCROW_REGISTRY];
  release->attestor_program = &account[RELEASE_ESCROW_ATTESTOR_PROGRAM];
  release->instructions_sysvar = &account[RELEASE_ESCROW_INSTRUCTIONS_SYSVAR];
  release->token_program = &account[RELEASE_ESCROW_TOKEN_PROGRAM];
  return settle_release(input, &account[RELEASE_ESCROW_ESCROW], release);
}

NOINLINE u64 release_partial(Input *input) {
  TRY(require_shape(input, RELEASE_PARTIAL_ACCOUNTS, RELEASE_PARTIAL_SIGNERS, RELEASE_PARTIAL_WRITABLES,
                    RELEASE_PARTIAL_ARGS_SIZE));
  const ReleasePartialArgs *args = (const ReleasePartialArgs *)input->data;
  const AccountInfo *account = input->account;
  Release *release = (Release *)HEAP_STATE;
  release->proof_hash = args->proof_hash;
  release->timestamp = args->timestamp;
  release->partial_amount = args->amount;
  release->is_partial = true;
  release->vault = &account[RELEASE_PARTIAL_VAULT];
  release->merchant = &account[RELEASE_PARTIAL_MERCHANT];
  release->merchant_payee.associated = &account[RELEASE_PARTIAL_MERCHANT_TOKEN_ACCOUNT];
  release->merchant_payee.fallback = &account[RELEASE_PARTIAL_MERCHANT_FALLBACK_ACCOUNT];
  release->merchant_payee.bump = args->merchant_token_bump;
  release->agent_payee.associated = &account[RELEASE_PARTIAL_AGENT_TOKEN_ACCOUNT];
  release->agent_payee.fallback = &account[RELEASE_PARTIAL_AGENT_FALLBACK_ACCOUNT];
  release->agent_payee.bump = args->agent_token_bump;
  release->rent_payer = &account[RELEASE_PARTIAL_RENT_PAYER];
  release->config = &account[RELEASE_PARTIAL_CONFIG];
  release->registry = &account[RELEASE_PARTIAL_REGISTRY];
  release->attestor_program = &account[RELEASE_PARTIAL_ATTESTOR_PROGRAM];
  release->instructions_sysvar = &account[RELEASE_PARTIAL_INSTRUCTIONS_SYSVAR];
  release->token_program = &account[RELEASE_PARTIAL_TOKEN_PROGRAM];
  return settle_release(input, &account[RELEASE_PARTIAL_ESCROW], release);
}
