#pragma once

#include "accounts.h"

/* Gives what the account holds above the rent of `space` bytes to who paid it, if there is any. The runtime refuses a change of an
   executable account's lamports, so a wallet that has become a program since leaves them here. */
static inline void give_rent(const AccountInfo *account, u64 space, const AccountInfo *rent_payer) {
  u64 kept = rent_exempt_minimum(space);
  if (*account->lamports <= kept || rent_payer->executable) return;
  *rent_payer->lamports += *account->lamports - kept;
  *account->lamports = kept;
}

NOINLINE u64 return_rent(Input *input) {
  TRY(require_shape(input, RETURN_RENT_ACCOUNTS, RETURN_RENT_SIGNERS, RETURN_RENT_WRITABLES, input->data_len));
  const AccountInfo *account = &input->account[RETURN_RENT_ESCROW];
  const AccountInfo *rent_payer = &input->account[RETURN_RENT_RENT_PAYER];
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  TRY(load_kept_escrow(input, account, RETURN_RENT_ARGS_SIZE, loaded));
  REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);
  REQUIRE(same32(rent_payer->key, &loaded->data->rent_payer), ERROR_WRONG_RENT_PAYER);
  give_rent(account, account->data_len, rent_payer);
  return 0;
}
