#pragma once

#include "../sdk/token.h"

/* The accounts that custody reads or keeps, each checked before it is believed. */

/* The configuration, at its own address; `config` is set on success. */
NOINLINE u64 load_config(const Input *input, const AccountInfo *account, CustodyConfig **config) {
  CustodyConfig *found = (CustodyConfig *)account->data;
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == CUSTODY_CONFIG_SIZE &&
              found->discriminator == ACCOUNT_CUSTODY_CONFIG && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_CONFIG);
  const Slice parts[] = {{"config", 6}, {&found->bump, 1}, PDA_TAIL(input->program_id)};
  REQUIRE(is_derived(account->key, parts, 2 + PDA_TAIL_PARTS), ERROR_WRONG_CONFIG);
  *config = found;
  return 0;
}

#define ESCROW_SEEDS 4

/* An escrow with the seeds by which the program signs for it. Lives on the heap: the seeds point into the account. */
typedef struct {
  const AccountInfo *account;
  Escrow *data;
  Slice seeds[ESCROW_SEEDS + PDA_TAIL_PARTS];
  SignerSeeds signer;
} LoadedEscrow;

static inline void set_escrow_seeds(LoadedEscrow *escrow, const Pubkey *agent_owner, const Bytes32 *task_hash,
                                    const u8 *bump) {
  escrow->seeds[0] = (Slice){"escrow", 6};
  escrow->seeds[1] = (Slice){agent_owner, 32};
  escrow->seeds[2] = (Slice){task_hash, 32};
  escrow->seeds[3] = (Slice){bump, 1};
  escrow->signer = (SignerSeeds){escrow->seeds, ESCROW_SEEDS};
}

/* Believes `data` once its own fields derive the account's address. */
NOINLINE u64 use_escrow(const Input *input, const AccountInfo *account, Escrow *data, LoadedEscrow *escrow) {
  escrow->account = account;
  escrow->data = data;
  set_escrow_seeds(escrow, &data->agent_owner, &data->task_hash, &data->bump);
  const Slice tail[] = {PDA_TAIL(input->program_id)};
  escrow->seeds[ESCROW_SEEDS] = tail[0];
  escrow->seeds[ESCROW_SEEDS + 1] = tail[1];
  REQUIRE(is_derived(account->key, escrow->seeds, ESCROW_SEEDS + PDA_TAIL_PARTS), ERROR_WRONG_ESCROW);
  return 0;
}

static inline bool is_tombstone(const Input *input, const AccountInfo *account) {
  return same32(account->owner, input->program_id) && account->data_len == ARCHIVED_ESCROW_SIZE &&
         ((const ArchivedEscrow *)account->data)->discriminator == ACCOUNT_ARCHIVED_ESCROW;
}

/* An escrow of this program in any state, not archived. */
NOINLINE u64 load_escrow(const Input *input, const AccountInfo *account, LoadedEscrow *escrow) {
  Escrow *data = (Escrow *)account->data;
  REQUIRE(!is_tombstone(input, account), ERROR_ESCROW_ARCHIVED);
  REQUIRE(same32(account->owner, input->program_id) && account->data_len == ESCROW_SIZE &&
              data->discriminator == ACCOUNT_ESCROW && data->version == ACCOUNT_VERSION,
          ERROR_WRONG_ESCROW);
  return use_escrow(input, account, data, escrow);
}

/* The same, or one that is archived: of that the instruction's last argument, which comes after `fixed` bytes, holds the bytes that
   the account had, and nobody may write them. */
NOINLINE u64 load_kept_escrow(const Input *input, const AccountInfo *account, u64 fixed, LoadedEscrow *escrow) {
  const u8 *last_bytes;
  u64 len;
  Bytes32 digest;
  TRY(read_last_argument(input, fixed, &last_bytes, &len));
  if (!is_tombstone(input, account)) {
    TRY(load_escrow(input, account, escrow));
    REQUIRE(len == 0, ERROR_WRONG_LAST_BYTES);
    return 0;
  }
  REQUIRE(len == ESCROW_SIZE, ERROR_WRONG_LAST_BYTES);
  const Slice bytes = {last_bytes, ESCROW_SIZE};
  sol_sha256(&bytes, 1, &digest);
  REQUIRE(same32(&digest, &((const ArchivedEscrow *)account->data)->last_hash), ERROR_WRONG_LAST_BYTES);
  return use_escrow(input, account, (Escrow *)last_bytes, escrow);
}

/* An escrow of this program that is Pending. */
static inline u64 load_pending_escrow(const Input *input, const AccountInfo *account, LoadedEscrow *escrow) {
  TRY(load_escrow(input, account, escrow));
  REQUIRE(escrow->data->state == ESCROW_STATE_PENDING, ERROR_NOT_PENDING);
  return 0;
}

static inline bool is_session(const Escrow *escrow) { return !is_zero32(&escrow->session_key); }

/* When an escrow ends, in Unix seconds: from then on it can only be refunded. */
static inline i64 end_of(const Escrow *escrow) { return escrow->closes_at ? escrow->closes_at : escrow->expires_at; }

/* The registered account of `wallet` at the attestor program: at the address that the wallet derives. */
NOINLINE u64 require_merchant(const AccountInfo *account, const Pubkey *wallet, const Pubkey *attestor_program) {
  const Merchant *found = (const Merchant *)account->data;
  REQUIRE(same32(account->owner, attestor_program) && account->data_len == MERCHANT_SIZE &&
              found->discriminator == ACCOUNT_MERCHANT && found->version == ACCOUNT_VERSION,
          ERROR_WRONG_MERCHANT);
  const Slice parts[] = {{"merchant", 8}, {wallet, 32}, {&found->bump, 1}, PDA_TAIL(attestor_program)};
  REQUIRE(is_derived(account->key, parts, 3 + PDA_TAIL_PARTS), ERROR_WRONG_MERCHANT);
  return 0;
}
