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

/* The account that is paid, in `paid`: the associated one, whatever rights its owner gave away on it, since an agent's `Approve` must
   not block the merchant's partial release; the fallback where that one has another owner or is frozen. That the
   fallback is neither the associated account nor the vault follows: it is the payee's and not frozen. */
NOINLINE u64 choose_payout(const Input *input, const Payee *payee, const Pubkey *mint, const AccountInfo **paid) {
  const AccountInfo *fallback = payee->fallback;
  REQUIRE(is_associated_address(payee->associated->key, payee->wallet, mint, payee->bump), payee->wrong);
  REQUIRE(is_account_of_mint(payee->associated, mint), ERROR_PAYOUT_ACCOUNT_MISSING);
  if (is_token_account(payee->associated, mint, payee->wallet) && is_initialized(payee->associated)) {
    *paid = payee->associated;
    return 0;
  }
  REQUIRE(!same32(fallback->key, input->program_id), ERROR_PAYOUT_ACCOUNT_UNUSABLE);
  REQUIRE(is_token_account(fallback, mint, payee->wallet), payee->wrong);
  REQUIRE(is_initialized(fallback), ERROR_PAYOUT_ACCOUNT_UNUSABLE);
  REQUIRE(!is_shared(fallback), ERROR_PAYOUT_ACCOUNT_SHARED);
  REQUIRE(fallback->is_writable, ERROR_ACCOUNT_NOT_WRITABLE);
  *paid = fallback;
  return 0;
}
