#pragma once

#include "settle.h"

/* Moves no money: the vault is then the agent's, by claim_refund. */
NOINLINE u64 cancel_escrow(Input *input) {
  TRY(require_shape(input, CANCEL_ESCROW_ACCOUNTS, CANCEL_ESCROW_SIGNERS, CANCEL_ESCROW_WRITABLES,
                    CANCEL_ESCROW_ARGS_SIZE));
  const AccountInfo *account = input->account;
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  CustodyConfig *config;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, &account[CANCEL_ESCROW_ESCROW], loaded));
  REQUIRE(same32(account[CANCEL_ESCROW_MERCHANT_WALLET].key, &loaded->data->merchant), ERROR_NOT_MERCHANT_WALLET);
  REQUIRE(now < end_of(loaded->data), ERROR_EXPIRED);
  TRY(load_config(input, &account[CANCEL_ESCROW_CONFIG], &config));
  return settle(config, loaded, SETTLED_BY_CANCEL, now);
}
