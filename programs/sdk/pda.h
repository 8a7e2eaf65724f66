#pragma once

#include "call.h"
#include "sysvars.h"

/* Program-derived addresses, and the accounts of this program that live at them. */

/* What a program's address hashes behind seeds and bump (Agave: sdk pubkey, Pubkey::create_program_address). */
#define PDA_TAIL(program) {program, 32}, {"ProgramDerivedAddress", 21}
#define PDA_TAIL_PARTS 2

/* Whether `key` is the hash of `parts`: seeds, the bump, PDA_TAIL. For accounts whose owner has been checked, or where only the
   owner of `program` could have put one: a bump that leads onto the curve names an address that nobody has a key for, so
   nothing can stand there, and the runtime's own derivation costs ten times as much. */
static inline bool is_derived(const Pubkey *key, const Slice *parts, u64 part_count) {
  Pubkey derived;
  sol_sha256(parts, part_count, &derived);
  return same32(key, &derived);
}

/* Whether `key` is the canonical address of `seeds`; on success the bump is in `bump`. */
static inline bool is_canonical(const Pubkey *key, const Slice *seeds, u64 seed_count, const Pubkey *program,
                                u8 *bump) {
  Pubkey derived;
  return sol_try_find_program_address(seeds, seed_count, program, &derived, bump) == 0 && same32(key, &derived);
}

/* Creates `account`, a PDA signed for by `seeds`, with `space` zero bytes owned by this program. Lamports that anyone
   sent there in advance make CreateAccount fail, so then the rest is transferred and the space allocated by the PDA. */
NOINLINE u64 create_pda(const Input *input, const AccountInfo *payer, const AccountInfo *account,
                                                u64 space, const SignerSeeds *signer) {
  u64 rent = rent_exempt_minimum(space);
  u64 present = *account->lamports;
  Call *call;
  if (present == 0) {
    call = new_call(&ADDRESS_SYSTEM_PROGRAM);
    call_account(call, payer, true, true);
    call_account(call, account, true, true);
    call_u32(call, 0); /* SystemInstruction::CreateAccount */
    call_u64(call, rent);
    call_u64(call, space);
    call_bytes32(call, input->program_id);
    return invoke(call, input, signer->seeds, signer->seed_count);
  }
  if (present < rent) {
    call = new_call(&ADDRESS_SYSTEM_PROGRAM);
    call_account(call, payer, true, true);
    call_account(call, account, false, true);
    call_u32(call, 2); /* SystemInstruction::Transfer */
    call_u64(call, rent - present);
    TRY(invoke(call, input, NULL, 0));
  }
  call = new_call(&ADDRESS_SYSTEM_PROGRAM);
  call_account(call, account, true, true);
  call_u32(call, 8); /* SystemInstruction::Allocate */
  call_u64(call, space);
  TRY(invoke(call, input, signer->seeds, signer->seed_count));
  call = new_call(&ADDRESS_SYSTEM_PROGRAM);
  call_account(call, account, true, true);
  call_u32(call, 1); /* SystemInstruction::Assign */
  call_bytes32(call, input->program_id);
  return invoke(call, input, signer->seeds, signer->seed_count);
}
