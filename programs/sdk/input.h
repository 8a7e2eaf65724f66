#pragma once

#include "syscalls.h"

/* Accounts, data and program id of the running instruction, parsed in place: nothing is copied, so the runtime's writes
   after a CPI are seen here (Agave: program-runtime/src/serialization.rs). */

/* More accounts than any instruction takes, so that callers may append some (Solana Pay references, for one). */
#define MAX_ACCOUNTS 32
/* The heap: zeroed, 32 KiB, private to each invocation. A stack frame holds only 512 bytes, so what is larger or lives
   through the whole instruction has a fixed place here: the input, the call under construction, the handler's state. */
#define HEAP_INPUT 0x300000000ull
#define HEAP_CALL 0x300001000ull
#define HEAP_STATE 0x300002000ull

typedef struct {
  AccountInfo account[MAX_ACCOUNTS];
  u64 account_count;
  const u8 *data;
  u64 data_len;
  const Pubkey *program_id;
} Input;

static inline u64 read_u64(const u8 *bytes) { return *(const u64 *)bytes; }
static inline u32 read_u32(const u8 *bytes) { return *(const u32 *)bytes; }
static inline u16 read_u16(const u8 *bytes) { return *(const u16 *)bytes; }

/* False when the caller passed more accounts than MAX_ACCOUNTS. */
static inline bool parse_input(u8 *bytes, Input *input) {
  const u64 spare = 10240; /* room for growth behind each account's data */
  u64 count = read_u64(bytes);
  bytes += 8;
  if (count > MAX_ACCOUNTS) return false;
  for (u64 i = 0; i < count; i++) {
    AccountInfo *account = &input->account[i];
    if (*bytes != 0xff) { /* the same account as an earlier one */
      *account = input->account[*bytes];
      bytes += 8;
      continue;
    }
    account->is_signer = bytes[1] != 0;
    account->is_writable = bytes[2] != 0;
    account->executable = bytes[3] != 0;
    account->key = (const Pubkey *)(bytes + 8);
    account->owner = (const Pubkey *)(bytes + 40);
    account->lamports = (u64 *)(bytes + 72);
    account->data_len = read_u64(bytes + 80);
    account->data = bytes + 88;
    bytes += (88 + account->data_len + spare + 7) & ~7ull;
    account->rent_epoch = read_u64(bytes);
    bytes += 8;
  }
  input->account_count = count;
  input->data_len = read_u64(bytes);
  input->data = bytes + 8;
  input->program_id = (const Pubkey *)(input->data + input->data_len);
  return true;
}

/* Checks what the IDL says of an instruction: its accounts are all there, those in `signers` and `writables` (bit i for
   account i) signed and may be written, and its data is as long as its arguments. Accounts beyond are forgotten. */
static inline u64 require_shape(Input *input, u64 account_count, u64 signers, u64 writables, u64 data_len) {
  REQUIRE(input->data_len == data_len, ERROR_INVALID_INSTRUCTION);
  REQUIRE(input->account_count >= account_count, ERROR_MISSING_ACCOUNT);
  for (u64 i = 0; i < account_count; i++) {
    const AccountInfo *account = &input->account[i];
    REQUIRE(account->is_signer || !(signers >> i & 1), ERROR_MISSING_SIGNATURE);
    REQUIRE(account->is_writable || !(writables >> i & 1), ERROR_ACCOUNT_NOT_WRITABLE);
  }
  input->account_count = account_count;
  return 0;
}

/* The last argument of an instruction, of its own length: u32 length behind the `fixed` bytes before, then that many bytes and no
   more. */
NOINLINE u64 read_last_argument(const Input *input, u64 fixed, const u8 **bytes, u64 *len) {
  REQUIRE(input->data_len >= fixed + 4, ERROR_INVALID_INSTRUCTION);
  *len = read_u32(input->data + fixed);
  *bytes = input->data + fixed + 4;
  REQUIRE(input->data_len == fixed + 4 + *len, ERROR_INVALID_INSTRUCTION);
  return 0;
}
