#pragma once

#include "../sdk/pda.h"

/* The accounts that attestor reads or keeps, each checked before it is believed. */

/* The registry, at its own address; `registry` is set on success. */
NOINLINE u64 load_registry(const Input *input, const AccountInfo *account,
                                                   const Registry **registry) {
  const Registry *found = (const Registry *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == REGISTRY_SIZE &&
              found->discriminator == ACCOUNT_REGISTRY,
          ERROR_WRONG_REGISTRY);
  const Slice seeds[] = {{"registry", 8}, {&found->bump, 1}};
  REQUIRE(is_derived(account->key, seeds, 2, input->program_id), ERROR_WRONG_REGISTRY);
  *registry = found;
  return 0;
}

/* A registered merchant, at the address that its own wallet derives. */
NOINLINE u64 load_merchant(const Input *input, const AccountInfo *account,
                                                   Merchant **merchant) {
  Merchant *found = (Merchant *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == MERCHANT_SIZE &&
              found->discriminator == ACCOUNT_MERCHANT,
          ERROR_WRONG_MERCHANT);
  const Slice seeds[] = {{"merchant", 8}, {&found->merchant, 32}, {&found->bump, 1}};
  REQUIRE(is_derived(account->key, seeds, 3, input->program_id), ERROR_WRONG_MERCHANT);
  *merchant = found;
  return 0;
}

/* A Pending escrow of the recorded custody program, at the address that its own fields derive. That it also signed can
   only have come from custody itself: nobody else signs for that address. */
NOINLINE u64 load_pending_escrow(const AccountInfo *account, const Pubkey *custody_program,
                                                         const Escrow **escrow) {
  const Escrow *found = (const Escrow *)account->data;
  REQUIRE(same32(account->owner, custody_program) && account->data_len == ESCROW_SIZE &&
              found->discriminator == ACCOUNT_ESCROW,
          ERROR_WRONG_ESCROW);
  const Slice seeds[] = {{"escrow", 6}, {&found->agent_owner, 32}, {&found->task_hash, 32}, {&found->bump, 1}};
  REQUIRE(is_derived(account->key, seeds, 4, custody_program), ERROR_WRONG_ESCROW);
  REQUIRE(found->state == ESCROW_STATE_PENDING, ERROR_ESCROW_NOT_PENDING);
  *escrow = found;
  return 0;
}
