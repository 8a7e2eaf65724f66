#pragma once

#include "accounts.h"

/* The vault of an escrow: checked, paid from, emptied and closed. */

/* `vault` is the escrow's associated token account, holds the rest of a Pending escrow, and the token program is real. */
NOINLINE u64 require_vault(const LoadedEscrow *escrow, const AccountInfo *vault, const AccountInfo *token_program) {
  const Escrow *data = escrow->data;
  REQUIRE(same32(token_program->key, &ADDRESS_TOKEN_PROGRAM), ERROR_WRONG_TOKEN_PROGRAM);
  REQUIRE(is_token_account(vault, &data->mint, escrow->account->key) &&
              is_associated_address(vault->key, escrow->account->key, &data->mint, data->vault_bump),
          ERROR_WRONG_VAULT);
  REQUIRE(data->state != ESCROW_STATE_PENDING || token_amount(vault) >= data->amount - data->released,
          ERROR_WRONG_VAULT);
  return 0;
}

/* Nothing is no transfer: the recipient may be absent then. */
static inline u64 pay_from_vault(const Input *input, const LoadedEscrow *escrow, const AccountInfo *vault,
                                 const AccountInfo *recipient, u64 amount) {
  if (amount == 0) return 0;
  const AccountInfo *transfer[] = {vault, recipient, escrow->account};
  return token_transfer(input, transfer, amount, &escrow->signer);
}

/* Closes the empty vault. Its rent stays in the escrow account until return_rent: who paid it could make any account that is named here
   one that the runtime refuses to pay. */
static inline u64 close_vault(const Input *input, const LoadedEscrow *escrow, const AccountInfo *vault) {
  return token_close(input, vault, escrow->account, escrow->account, &escrow->signer);
}
