#pragma once

#include "accounts.h"

/* The merchant has until `closes_at` to capture. */
NOINLINE u64 close_session(Input *input) {
  TRY(require_shape(input, CLOSE_SESSION_ACCOUNTS, CLOSE_SESSION_SIGNERS, CLOSE_SESSION_WRITABLES,
                    CLOSE_SESSION_ARGS_SIZE));
  const AccountInfo *account = input->account;
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  i64 now = ledger_time();
  TRY(load_pending_escrow(input, &account[CLOSE_SESSION_ESCROW], loaded));
  Escrow *escrow = loaded->data;
  REQUIRE(same32(account[CLOSE_SESSION_AGENT_OWNER].key, &escrow->agent_owner), ERROR_NOT_AGENT_WALLET);
  REQUIRE(is_session(escrow), ERROR_NOT_SESSION);
  REQUIRE(escrow->closes_at == 0, ERROR_SESSION_CLOSING);
  REQUIRE(now < escrow->expires_at, ERROR_EXPIRED);
  i64 closes_at = now + CLOSE_DELAY_SECONDS;
  escrow->closes_at = closes_at < escrow->expires_at ? closes_at : escrow->expires_at;
  return 0;
}
