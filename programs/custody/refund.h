#pragma once

#include "../sdk/event.h"
#include "ledger-event.h"
#include "payout.h"
#include "vault.h"

/* Both ways back to the agent: by anyone once the escrow has expired, by the merchant's wallet before. Their accounts are the same
   but for that wallet, which comes last. */

_Static_assert(CANCEL_ESCROW_MERCHANT_WALLET == CLAIM_REFUND_ACCOUNTS && CANCEL_ESCROW_ESCROW == CLAIM_REFUND_ESCROW &&
                   CANCEL_ESCROW_VAULT == CLAIM_REFUND_VAULT &&
                   CANCEL_ESCROW_AGENT_TOKEN_ACCOUNT == CLAIM_REFUND_AGENT_TOKEN_ACCOUNT &&
                   CANCEL_ESCROW_AGENT_FALLBACK_ACCOUNT == CLAIM_REFUND_AGENT_FALLBACK_ACCOUNT &&
                   CANCEL_ESCROW_RENT_PAYER == CLAIM_REFUND_RENT_PAYER && CANCEL_ESCROW_CONFIG == CLAIM_REFUND_CONFIG &&
                   CANCEL_ESCROW_TOKEN_PROGRAM == CLAIM_REFUND_TOKEN_PROGRAM,
               "one way to settle them");

NOINLINE void emit_escrow_refunded(const Pubkey *key, const Escrow *escrow) {
  const EscrowRefunded event = {
      .discriminator = EVENT_ESCROW_REFUNDED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .settled_at = escrow->settled_at,
      .seq = escrow->settled_seq,
  };
  emit(&event, ESCROW_REFUNDED_SIZE);
}

/* Pays the whole vault of a Pending escrow, loaded by the caller, back to the agent. */
NOINLINE u64 settle_refund(const Input *input, LoadedEscrow *loaded, u8 agent_token_bump, i64 now) {
  const AccountInfo *account = input->account;
  const AccountInfo *vault = &account[CLAIM_REFUND_VAULT];
  const AccountInfo *rent_payer = &account[CLAIM_REFUND_RENT_PAYER];
  Escrow *escrow = loaded->data;
  const Payee agent = {
      .wallet = &escrow->agent_owner,
      .associated = &account[CLAIM_REFUND_AGENT_TOKEN_ACCOUNT],
      .fallback = &account[CLAIM_REFUND_AGENT_FALLBACK_ACCOUNT],
      .wrong = ERROR_WRONG_AGENT_TOKEN_ACCOUNT,
      .bump = agent_token_bump,
  };
  const AccountInfo *paid;
  CustodyConfig *config;
  TRY(load_config(input, &account[CLAIM_REFUND_CONFIG], &config));
  TRY(require_vault(loaded, vault, rent_payer, &account[CLAIM_REFUND_TOKEN_PROGRAM]));
  TRY(choose_payout(input, &agent, &escrow->mint, &paid));
  TRY(pay_from_vault(input, loaded, vault, paid, token_amount(vault)));
  TRY(close_vault(input, loaded, vault, rent_payer));
  escrow->state = ESCROW_STATE_REFUNDED;
  escrow->settled_at = now;
  TRY(number_event(config, loaded->account, &escrow->settled_seq));
  emit_escrow_refunded(loaded->account->key, escrow);
  return 0;
}

NOINLINE u64 claim_refund(Input *input) {
  TRY(require_shape(input, CLAIM_REFUND_ACCOUNTS, CLAIM_REFUND_SIGNERS, CLAIM_REFUND_WRITABLES,
                    CLAIM_REFUND_ARGS_SIZE));
  const ClaimRefundArgs *args = (const ClaimRefundArgs *)input->data;
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, &input->account[CLAIM_REFUND_ESCROW], loaded));
  REQUIRE(now >= loaded->data->expires_at, ERROR_NOT_EXPIRED);
  return settle_refund(input, loaded, args->agent_token_bump, now);
}

NOINLINE u64 cancel_escrow(Input *input) {
  TRY(require_shape(input, CANCEL_ESCROW_ACCOUNTS, CANCEL_ESCROW_SIGNERS, CANCEL_ESCROW_WRITABLES,
                    CANCEL_ESCROW_ARGS_SIZE));
  const CancelEscrowArgs *args = (const CancelEscrowArgs *)input->data;
  const AccountInfo *merchant_wallet = &input->account[CANCEL_ESCROW_MERCHANT_WALLET];
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, &input->account[CANCEL_ESCROW_ESCROW], loaded));
  REQUIRE(same32(merchant_wallet->key, &loaded->data->merchant), ERROR_NOT_MERCHANT_WALLET);
  REQUIRE(now < loaded->data->expires_at, ERROR_EXPIRED);
  return settle_refund(input, loaded, args->agent_token_bump, now);
}
