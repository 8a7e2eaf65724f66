#pragma once

#include "../sdk/pda.h"

/* The accounts that attestor reads or keeps, each checked before it is believed. */

/* The registry, at its own address; `registry` is set on success. */
NOINLINE u64 load_registry(const Input *input, const AccountInfo *account,
                                                   Registry **registry) {
  Registry *found = (Registry *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == REGISTRY_SIZE &&
              found->discriminator == ACCOUNT_REGISTRY && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_REGISTRY);
  const Slice parts[] = {{"registry", 8}, {&found->bump, 1}, PDA_TAIL(input->program_id)};
  REQUIRE(is_derived(account->key, parts, 2 + PDA_TAIL_PARTS), ERROR_WRONG_REGISTRY);
  *registry = found;
  return 0;
}

/* A registered merchant, at the address that its own wallet derives. */
NOINLINE u64 load_merchant(const Input *input, const AccountInfo *account,
                                                   Merchant **merchant) {
  Merchant *found = (Merchant *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == MERCHANT_SIZE &&
              found->discriminator == ACCOUNT_MERCHANT && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_MERCHANT);
  const Slice parts[] = {{"merchant", 8}, {&found->merchant, 32}, {&found->bump, 1}, PDA_TAIL(input->program_id)};
  REQUIRE(is_derived(account->key, parts, 3 + PDA_TAIL_PARTS), ERROR_WRONG_MERCHANT);
  *merchant = found;
  return 0;
}

/* A Pending escrow of the recorded custody program, at the address that its own fields derive. That it also signed can
   only have come from custody itself: nobody else signs for that address. */
NOINLINE u64 load_pending_escrow(const AccountInfo *account, const Pubkey *custody_program,
                                                         const Escrow **escrow) {
  const Escrow *found = (const Escrow *)account->data;
  REQUIRE(same32(account->owner, custody_program) && account->data_len == ESCROW_SIZE &&
              found->discriminator == ACCOUNT_ESCROW && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_ESCROW);
  const Slice parts[] = {
      {"escrow", 6}, {&found->agent_owner, 32}, {&found->task_hash, 32}, {&found->bump, 1}, PDA_TAIL(custody_program)};
  REQUIRE(is_derived(account->key, parts, 4 + PDA_TAIL_PARTS), ERROR_WRONG_ESCROW);
  REQUIRE(found->state == ESCROW_STATE_PENDING, ERROR_ESCROW_NOT_PENDING);
  *escrow = found;
  return 0;
}

/* The recorded custody program's configuration, at its own address. */
NOINLINE u64 load_custody_config(const AccountInfo *account, const Pubkey *custody_program,
                                                         const CustodyConfig **config) {
  const CustodyConfig *found = (const CustodyConfig *)account->data;
  REQUIRE(same32(account->owner, custody_program) && account->data_len == CUSTODY_CONFIG_SIZE &&
              found->discriminator == ACCOUNT_CUSTODY_CONFIG && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_CONFIG);
  const Slice parts[] = {{"config", 6}, {&found->bump, 1}, PDA_TAIL(custody_program)};
  REQUIRE(is_derived(account->key, parts, 2 + PDA_TAIL_PARTS), ERROR_WRONG_CONFIG);
  *config = found;
  return 0;
}
