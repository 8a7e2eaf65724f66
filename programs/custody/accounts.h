#pragma once

#include "../sdk/token.h"

/* The accounts that custody reads or keeps, each checked before it is believed. */

/* The configuration, at its own address; `config` is set on success. */
static inline u64 load_config(const Input *input, const AccountInfo *account, const CustodyConfig **config) {
  const CustodyConfig *found = (const CustodyConfig *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == CUSTODY_CONFIG_SIZE &&
              found->discriminator == ACCOUNT_CUSTODY_CONFIG,
          ERROR_WRONG_CONFIG);
  const Slice seeds[] = {{"config", 6}, {&found->bump, 1}};
  REQUIRE(is_derived(account->key, seeds, 2, input->program_id), ERROR_WRONG_CONFIG);
  *config = found;
  return 0;
}

/* An escrow with the seeds by which the program signs for it. Lives on the heap: the seeds point into the account. */
typedef struct {
  const AccountInfo *account;
  Escrow *data;
  Slice seeds[4];
  SignerSeeds signer;
} LoadedEscrow;

static inline void set_escrow_seeds(LoadedEscrow *escrow, const Pubkey *agent_owner, const Bytes32 *task_hash,
                                    const u8 *bump) {
  escrow->seeds[0] = (Slice){"escrow", 6};
  escrow->seeds[1] = (Slice){agent_owner, 32};
  escrow->seeds[2] = (Slice){task_hash, 32};
  escrow->seeds[3] = (Slice){bump, 1};
  escrow->signer = (SignerSeeds){escrow->seeds, 4};
}

/* A Pending escrow of this program, at the address that its own fields derive. */
NOINLINE u64 load_pending_escrow(const Input *input, const AccountInfo *account,
                                                         LoadedEscrow *escrow) {
  Escrow *data = (Escrow *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == ESCROW_SIZE &&
              data->discriminator == ACCOUNT_ESCROW,
          ERROR_WRONG_ESCROW);
  escrow->account = account;
  escrow->data = data;
  set_escrow_seeds(escrow, &data->agent_owner, &data->task_hash, &data->bump);
  REQUIRE(is_derived(account->key, escrow->seeds, 4, input->program_id), ERROR_WRONG_ESCROW);
  REQUIRE(data->state == ESCROW_STATE_PENDING, ERROR_NOT_PENDING);
  return 0;
}

/* The registered account of `wallet` at the attestor program: at the address that the wallet derives. */
static inline u64 load_merchant(const AccountInfo *account, const Pubkey *wallet, const Pubkey *attestor_program,
                                const Merchant **merchant) {
  const Merchant *found = (const Merchant *)account->data;
  REQUIRE(same32(account->owner, attestor_program) && account->data_len == MERCHANT_SIZE &&
              found->discriminator == ACCOUNT_MERCHANT,
          ERROR_WRONG_MERCHANT);
  const Slice seeds[] = {{"merchant", 8}, {wallet, 32}, {&found->bump, 1}};
  REQUIRE(is_derived(account->key, seeds, 3, attestor_program), ERROR_WRONG_MERCHANT);
  *merchant = found;
  return 0;
}
