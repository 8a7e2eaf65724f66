#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/payout.h"

/* Whatever two accounts are passed for a payee, what is paid is the payee's: an SPL Token account of the escrow's mint that the payee owns,
   and either the associated account or one on which nobody else has a right. An account of another length than a token account's is not read. */
typedef struct {
  TokenAccount token;
  AccountInfo info;
  Pubkey key;
  Pubkey owner;
} Candidate;

static Candidate associated, fallback;
static Pubkey mint, wallet, own_id;

/* What the program has asked to be derived, and the address it got. It may be any: it is the same for the same question. */
static bool asked_for_associated;
static Pubkey associated_address;

static bool is_slice(const Slice *slice, const Pubkey *wanted) {
  return slice->len == 32 && same32((const Pubkey *)slice->address, wanted);
}

static void derive(const Slice *seeds, const Pubkey *program, Pubkey *address) {
  asked_for_associated = is_slice(&seeds[0], &wallet) && is_slice(&seeds[1], &ADDRESS_TOKEN_PROGRAM) &&
                         is_slice(&seeds[2], &mint) && same32(program, &ADDRESS_ASSOCIATED_TOKEN_PROGRAM);
  *address = associated_address;
}

u64 sol_try_find_program_address(const Slice *seeds, u64 seed_count, const Pubkey *program, Pubkey *address,
                                 u8 *bump) {
  CLAIM(seed_count == 3, "an associated address has three seeds");
  derive(seeds, program, address);
  *bump = nondet_u8();
  return 0;
}

/* The seeds, the bump, the program and the marker, hashed by hand. */
u64 sol_sha256(const Slice *parts, u64 part_count, Bytes32 *digest) {
  CLAIM(part_count == 6 && parts[3].len == 1 && parts[4].len == 32 && parts[5].len == 21, "an associated address");
  derive(parts, (const Pubkey *)parts[4].address, digest);
  return 0;
}

static void pass(Candidate *account) {
  TokenAccount *token = &account->token;
  token->mint = nondet_bytes32();
  token->owner = nondet_bytes32();
  token->state = nondet_u8();
  fill(token->delegate, 4);
  fill(token->close_authority, 4);
  account->key = nondet_bytes32();
  account->owner = nondet_bytes32();
  account->info.key = &account->key;
  account->info.owner = &account->owner;
  account->info.data_len = nondet_u64();
  /* Whoever reads data of another length reads nothing that is there. */
  account->info.data = account->info.data_len == 165 ? (u8 *)token : NULL;
  account->info.is_writable = nondet_u8() != 0;
}

static bool is_payees(const Candidate *account) {
  const TokenAccount *token = &account->token;
  return same32(&account->owner, &ADDRESS_TOKEN_PROGRAM) && account->info.data_len == 165 && token->state != 0 &&
         same32(&token->mint, &mint) && same32(&token->owner, &wallet);
}
static bool has_rights_of_others(const Candidate *account) {
  const TokenAccount *token = &account->token;
  return read_u32(token->delegate) != 0 || read_u32(token->close_authority) != 0;
}

int main(void) {
  mint = nondet_bytes32();
  wallet = nondet_bytes32();
  own_id = nondet_bytes32();
  associated_address = nondet_bytes32();
  pass(&associated);
  pass(&fallback);

  static Input input;
  input.program_id = &own_id;
  const Payee payee = {.wallet = &wallet,
                       .associated = &associated.info,
                       .fallback = &fallback.info,
                       .wrong = ERROR_WRONG_AGENT_TOKEN_ACCOUNT,
                       .bump = nondet_u8()};
  const AccountInfo *paid = NULL;
  u64 error = choose_payout(&input, &payee, &mint, &paid);
  bool usable = same32(&associated.key, &associated_address) && is_payees(&associated) &&
                associated.token.state == 1;
  if (error == 0) {
    CLAIM(asked_for_associated && same32(&associated.key, &associated_address), "the first is the associated account");
    CLAIM(paid == &associated.info || paid == &fallback.info, "one of the two is paid");
    CLAIM((paid == &associated.info) == usable, "the associated one, whenever it can be paid");
    CLAIM(paid->is_writable, "it was passed to be paid");
    if (paid == &fallback.info) {
      CLAIM(is_payees(&fallback) && fallback.token.state == 1, "the other is the payee's and not frozen");
      CLAIM(!has_rights_of_others(&fallback), "nobody else has a right on it");
      CLAIM(!same32(&fallback.key, &own_id), "custody's own id is no account");
    }
  } else {
    CLAIM(!usable || !associated.info.is_writable, "an associated account that can be paid never stops a settlement");
    CLAIM(!same32(&associated.key, &associated_address) || usable || !is_payees(&fallback) || fallback.token.state != 1 ||
              has_rights_of_others(&fallback) || !fallback.info.is_writable || same32(&fallback.key, &own_id),
          "nor does one that cannot be paid, beside a fallback that can");
  }
  return 0;
}
