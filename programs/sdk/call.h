#pragma once

#include "input.h"

/* Cross-program invocation. A failing callee aborts the whole instruction: its error surfaces as this program's. */

typedef struct {
  Instruction instruction;
  AccountMeta account[8];
  u8 data[64];
  SignerSeeds signer;
} Call;

NOINLINE void call_account(Call *call, const AccountInfo *account, bool is_signer, bool is_writable) {
  AccountMeta *meta = &call->account[call->instruction.account_count++];
  meta->key = account->key;
  meta->is_signer = is_signer;
  meta->is_writable = is_writable;
}

NOINLINE void call_u8(Call *call, u8 value) { call->data[call->instruction.data_len++] = value; }

NOINLINE void call_u32(Call *call, u32 value) {
  *(u32 *)(call->data + call->instruction.data_len) = value;
  call->instruction.data_len += 4;
}

NOINLINE void call_u64(Call *call, u64 value) {
  *(u64 *)(call->data + call->instruction.data_len) = value;
  call->instruction.data_len += 8;
}

NOINLINE void call_bytes32(Call *call, const Bytes32 *value) {
  *(Bytes32 *)(call->data + call->instruction.data_len) = *value;
  call->instruction.data_len += 32;
}

/* The one call under construction: calls are made one after another, never nested. */
NOINLINE Call *new_call(const Pubkey *program_id) {
  Call *call = (Call *)HEAP_CALL;
  call->instruction.program_id = program_id;
  call->instruction.accounts = call->account;
  call->instruction.account_count = 0;
  call->instruction.data = call->data;
  call->instruction.data_len = 0;
  return call;
}
_Static_assert(HEAP_INPUT + sizeof(Input) <= HEAP_CALL && HEAP_CALL + sizeof(Call) <= HEAP_STATE, "heap places");

/* `seeds` (with the bump last) lets that PDA of this program sign; NULL for none. */
NOINLINE u64 invoke(Call *call, const Input *input, const Slice *seeds, u64 seed_count) {
  call->signer.seeds = seeds;
  call->signer.seed_count = seed_count;
  return sol_invoke_signed_c(&call->instruction, input->account, input->account_count, &call->signer, seeds ? 1 : 0);
}
