#pragma once

#include "pda.h"

/* SPL Token accounts and calls (spl-token: state.rs, instruction.rs). */

typedef struct {
  Pubkey mint;
  Pubkey owner;
  u64 amount;
  u8 delegate[36]; /* u32 1 and the key, or u32 0, behind which anything may stand */
  u8 state;        /* 0 uninitialised, 1 initialised, 2 frozen */
  u8 is_native[12];
  u8 delegated_amount[8];
  u8 close_authority[36]; /* like delegate */
} TokenAccount;
_Static_assert(__builtin_offsetof(TokenAccount, delegate) == 72 && __builtin_offsetof(TokenAccount, state) == 108 &&
                   __builtin_offsetof(TokenAccount, close_authority) == 129,
               "TokenAccount is SPL Token's Account");
#define TOKEN_ACCOUNT_SIZE 165
#define TOKEN_STATE_UNINITIALIZED 0
#define TOKEN_STATE_INITIALIZED 1
#define MINT_SIZE 82
#define MINT_IS_INITIALIZED 45

static inline bool is_mint(const AccountInfo *account) {
  return same32(account->owner, &ADDRESS_TOKEN_PROGRAM) && account->data_len == MINT_SIZE &&
         account->data[MINT_IS_INITIALIZED] == 1;
}

/* Whether `account` is an SPL Token account of `mint`, whoever controls it. */
static inline bool is_account_of_mint(const AccountInfo *account, const Pubkey *mint) {
  const TokenAccount *token = (const TokenAccount *)account->data;
  return same32(account->owner, &ADDRESS_TOKEN_PROGRAM) && account->data_len == TOKEN_ACCOUNT_SIZE &&
         token->state != TOKEN_STATE_UNINITIALIZED && same32(&token->mint, mint);
}

/* Whether `account` is an SPL Token account of `mint` that `owner` controls, associated or not. */
static inline bool is_token_account(const AccountInfo *account, const Pubkey *mint, const Pubkey *owner) {
  return is_account_of_mint(account, mint) && same32(&((const TokenAccount *)account->data)->owner, owner);
}

static inline bool is_initialized(const AccountInfo *account) {
  return ((const TokenAccount *)account->data)->state == TOKEN_STATE_INITIALIZED;
}

static inline u64 token_amount(const AccountInfo *account) { return ((const TokenAccount *)account->data)->amount; }

/* Whether someone besides its owner has a right on a token account: to transfer out of it, or to close it, which for wrapped
   SOL takes all that it holds. */
static inline bool is_shared(const AccountInfo *account) {
  const TokenAccount *token = (const TokenAccount *)account->data;
  return (read_u32(token->delegate) | read_u32(token->close_authority)) != 0;
}

/* Whether `key` is the associated token account of (owner, mint) by this bump. Under another bump than the canonical one there is
   never an account: only the Associated Token program could make it. */
NOINLINE bool is_associated_address(const Pubkey *key, const Pubkey *owner, const Pubkey *mint, u8 bump) {
  const Slice parts[] = {{owner, 32}, {&ADDRESS_TOKEN_PROGRAM, 32}, {mint, 32}, {&bump, 1}, PDA_TAIL(&ADDRESS_ASSOCIATED_TOKEN_PROGRAM)};
  return is_derived(key, parts, 4 + PDA_TAIL_PARTS);
}

/* Moves `amount` base units; `seeds` when the authority is a PDA of this program. */
NOINLINE u64 token_transfer(const Input *input, const AccountInfo *accounts[3], u64 amount,
                                                    const SignerSeeds *signer) {
  Call *call = new_call(&ADDRESS_TOKEN_PROGRAM);
  call_account(call, accounts[0], false, true); /* source */
  call_account(call, accounts[1], false, true); /* destination */
  call_account(call, accounts[2], true, false); /* authority */
  call_u8(call, 3);                             /* TokenInstruction::Transfer */
  call_u64(call, amount);
  return signer ? invoke(call, input, signer->seeds, signer->seed_count) : invoke(call, input, NULL, 0);
}

/* Closes an empty token account of the PDA `authority` and sends its lamports to `destination`. */
NOINLINE u64 token_close(const Input *input, const AccountInfo *account,
                                                 const AccountInfo *destination, const AccountInfo *authority,
                                                 const SignerSeeds *signer) {
  Call *call = new_call(&ADDRESS_TOKEN_PROGRAM);
  call_account(call, account, false, true);
  call_account(call, destination, false, true);
  call_account(call, authority, true, false);
  call_u8(call, 9); /* TokenInstruction::CloseAccount */
  return invoke(call, input, signer->seeds, signer->seed_count);
}
