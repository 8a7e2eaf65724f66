#pragma once

#include "accounts.h"

/* Where a payee is paid: docs/protocol.md, "Payout". Whoever settles passes the accounts, so the choice between them is the
   program's: otherwise a sender could have a payout emptied in the same transaction by someone to whom the payee once gave a right
   on an old account. */

typedef struct {
  const Pubkey *wallet;
  const AccountInfo *associated;
  const AccountInfo *fallback; /* custody's own id: none */
  u64 wrong;                   /* the error for an account that is not this payee's */
  u8 bump;                     /* of the associated account's address */
} Payee;

/* The account that is paid, in `paid`: the associated one, whatever rights its owner gave away on it; the fallback where that one is
   absent, frozen or has another owner. That the fallback is neither the associated account nor the vault follows: it is the
   payee's and not frozen. */
NOINLINE u64 choose_payout(const Input *input, const Payee *payee, const Pubkey *mint, const AccountInfo **paid) {
  const AccountInfo *chosen = payee->associated;
  REQUIRE(is_associated_address(chosen->key, payee->wallet, mint, payee->bump), payee->wrong);
  if (!is_token_account(chosen, mint, payee->wallet) || !is_initialized(chosen)) {
    chosen = payee->fallback;
    REQUIRE(!same32(chosen->key, input->program_id), ERROR_PAYOUT_ACCOUNT_UNUSABLE);
    REQUIRE(is_token_account(chosen, mint, payee->wallet), payee->wrong);
    REQUIRE(is_initialized(chosen), ERROR_PAYOUT_ACCOUNT_UNUSABLE);
    REQUIRE(!is_shared(chosen), ERROR_PAYOUT_ACCOUNT_SHARED);
  }
  REQUIRE(chosen->is_writable, ERROR_ACCOUNT_NOT_WRITABLE);
  *paid = chosen;
  return 0;
}
