#pragma once

#include "payout.h"
#include "settle.h"
#include "vault.h"

/* Pays the agent all that the vault holds and closes the vault. Who takes nothing needs no account. */
NOINLINE u64 empty_vault(const Input *input, const LoadedEscrow *loaded, u8 agent_token_bump) {
  const AccountInfo *account = input->account;
  const AccountInfo *vault = &account[CLAIM_REFUND_VAULT];
  const Payee agent = {
      .wallet = &loaded->data->agent_owner,
      .associated = &account[CLAIM_REFUND_AGENT_TOKEN_ACCOUNT],
      .fallback = &account[CLAIM_REFUND_AGENT_FALLBACK_ACCOUNT],
      .wrong = ERROR_WRONG_AGENT_TOKEN_ACCOUNT,
      .bump = agent_token_bump,
  };
  const AccountInfo *paid;
  TRY(require_vault(loaded, vault, &account[CLAIM_REFUND_TOKEN_PROGRAM]));
  if (token_amount(vault) > 0) {
    TRY(choose_payout(input, &agent, &loaded->data->mint, &paid));
    TRY(pay_from_vault(input, loaded, vault, paid, token_amount(vault)));
  }
  return close_vault(input, loaded, vault);
}

NOINLINE u64 claim_refund(Input *input) {
  TRY(require_shape(input, CLAIM_REFUND_ACCOUNTS, CLAIM_REFUND_SIGNERS, CLAIM_REFUND_WRITABLES, input->data_len));
  const AccountInfo *account = input->account;
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  TRY(load_kept_escrow(input, &account[CLAIM_REFUND_ESCROW], CLAIM_REFUND_ARGS_SIZE, loaded));
  u8 agent_token_bump = ((const ClaimRefundArgs *)input->data)->agent_token_bump;
  if (loaded->data->state != ESCROW_STATE_PENDING) return empty_vault(input, loaded, agent_token_bump);

  CustodyConfig *config;
  i64 now = ledger_time();
  REQUIRE(now >= end_of(loaded->data), ERROR_NOT_EXPIRED);
  TRY(load_config(input, &account[CLAIM_REFUND_CONFIG], &config));
  TRY(empty_vault(input, loaded, agent_token_bump));
  return settle(config, loaded, SETTLED_BY_REFUND, now);
}
