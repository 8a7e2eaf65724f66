#pragma once

#include "accounts.h"

/* The vault of an escrow: checked, emptied and closed at settlement. */

/* `vault` is the escrow's associated token account, `rent_payer` the recorded one, and the token program is real. */
NOINLINE u64 require_vault(const LoadedEscrow *escrow, const AccountInfo *vault,
                                                   const AccountInfo *rent_payer, const AccountInfo *token_program) {
  REQUIRE(same32(token_program->key, &ADDRESS_TOKEN_PROGRAM), ERROR_WRONG_TOKEN_PROGRAM);
  REQUIRE(is_token_account(vault, &escrow->data->mint, escrow->account->key) &&
              is_associated_address(vault->key, escrow->account->key, &escrow->data->mint, escrow->data->vault_bump) &&
              token_amount(vault) >= escrow->data->amount,
          ERROR_WRONG_VAULT);
  REQUIRE(same32(rent_payer->key, &escrow->data->rent_payer), ERROR_WRONG_RENT_PAYER);
  return 0;
}

static inline u64 pay_from_vault(const Input *input, const LoadedEscrow *escrow, const AccountInfo *vault,
                                 const AccountInfo *recipient, u64 amount) {
  const AccountInfo *transfer[] = {vault, recipient, escrow->account};
  return token_transfer(input, transfer, amount, &escrow->signer);
}

/* Closes the empty vault; its rent goes to who paid it. A wallet that has become a program since stays unpaid, and the
   escrow account keeps the rent: the runtime does not show a caller what a call has done to an executable account, takes
   the difference for lamports spent, and would refuse every settlement (Agave: program-runtime/src/cpi.rs). */
static inline u64 close_vault(const Input *input, const LoadedEscrow *escrow, const AccountInfo *vault,
                              const AccountInfo *rent_payer) {
  const AccountInfo *recipient = rent_payer->executable ? escrow->account : rent_payer;
  return token_close(input, vault, recipient, escrow->account, &escrow->signer);
}
