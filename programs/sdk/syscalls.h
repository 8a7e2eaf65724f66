#pragma once

#include "types.h"

/* C ABI of the runtime's syscalls (Agave: program-runtime/src/cpi.rs, syscalls/src/lib.rs). Sizes are part of the ABI. */

typedef struct {
  const Pubkey *key;
  u64 *lamports;
  u64 data_len;
  u8 *data;
  const Pubkey *owner;
  u64 rent_epoch;
  bool is_signer;
  bool is_writable;
  bool executable;
} AccountInfo;
_Static_assert(sizeof(AccountInfo) == 56, "AccountInfo is SolAccountInfo");

typedef struct {
  const Pubkey *key;
  bool is_writable;
  bool is_signer;
} AccountMeta;
_Static_assert(sizeof(AccountMeta) == 16, "AccountMeta is SolAccountMeta");

typedef struct {
  const Pubkey *program_id;
  const AccountMeta *accounts;
  u64 account_count;
  const u8 *data;
  u64 data_len;
} Instruction;
_Static_assert(sizeof(Instruction) == 40, "Instruction is SolInstruction");

/* One slice of bytes: a PDA seed, or a part of an event or of what is hashed. */
typedef struct {
  const void *address;
  u64 len;
} Slice;
_Static_assert(sizeof(Slice) == 16, "Slice is SolSignerSeed and SolBytes");

typedef struct {
  const Slice *seeds;
  u64 seed_count;
} SignerSeeds;
_Static_assert(sizeof(SignerSeeds) == 16, "SignerSeeds is SolSignerSeeds");

typedef struct {
  u64 slot;
  i64 epoch_start_timestamp;
  u64 epoch;
  u64 leader_schedule_epoch;
  i64 unix_timestamp;
} Clock;

typedef struct {
  u64 lamports_per_byte;
  u64 threshold_bits; /* an f64; compared by its bits, the compiler has no floats */
  u8 burn_percent;
} Rent;
_Static_assert(sizeof(Rent) == 24, "Rent is the sysvar's C layout");

u64 sol_invoke_signed_c(const Instruction *instruction, const AccountInfo *accounts, u64 account_count,
                        const SignerSeeds *signers, u64 signer_count);
u64 sol_try_find_program_address(const Slice *seeds, u64 seed_count, const Pubkey *program, Pubkey *address,
                                 u8 *bump);
u64 sol_get_clock_sysvar(Clock *clock);
u64 sol_get_rent_sysvar(Rent *rent);
u64 sol_sha256(const Slice *parts, u64 part_count, Bytes32 *digest);
u64 sol_log_data(const Slice *parts, u64 part_count);
u64 sol_set_return_data(const void *data, u64 len);
u64 sol_get_return_data(void *data, u64 capacity, Pubkey *program);
u64 sol_memcpy_(void *target, const void *source, u64 len);
u64 sol_memcmp_(const void *a, const void *b, u64 len, i32 *result);
