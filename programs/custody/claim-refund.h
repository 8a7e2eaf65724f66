#pragma once

#include "../sdk/event.h"
#include "vault.h"

NOINLINE void emit_escrow_refunded(const Pubkey *key, const Escrow *escrow) {
  const EscrowRefunded event = {
      .discriminator = EVENT_ESCROW_REFUNDED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .settled_at = escrow->settled_at,
  };
  emit(&event, ESCROW_REFUNDED_SIZE);
}

NOINLINE u64 claim_refund(Input *input) {
  TRY(require_shape(input, CLAIM_REFUND_ACCOUNTS, CLAIM_REFUND_SIGNERS, CLAIM_REFUND_WRITABLES,
                    CLAIM_REFUND_ARGS_SIZE));
  const AccountInfo *account = input->account;
  const AccountInfo *vault = &account[CLAIM_REFUND_VAULT];
  const AccountInfo *recipient = &account[CLAIM_REFUND_AGENT_TOKEN_ACCOUNT];
  const AccountInfo *rent_payer = &account[CLAIM_REFUND_RENT_PAYER];
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, &account[CLAIM_REFUND_ESCROW], loaded));
  Escrow *escrow = loaded->data;
  REQUIRE(now >= escrow->expires_at, ERROR_NOT_EXPIRED);
  TRY(require_vault(loaded, vault, rent_payer, &account[CLAIM_REFUND_TOKEN_PROGRAM]));
  TRY(require_payout(recipient, &escrow->mint, &escrow->agent_owner, ERROR_WRONG_AGENT_TOKEN_ACCOUNT));
  TRY(pay_from_vault(input, loaded, vault, recipient, token_amount(vault)));
  TRY(close_vault(input, loaded, vault, rent_payer));
  escrow->state = ESCROW_STATE_REFUNDED;
  escrow->settled_at = now;
  emit_escrow_refunded(loaded->account->key, escrow);
  return 0;
}
