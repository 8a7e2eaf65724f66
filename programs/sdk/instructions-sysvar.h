#pragma once

#include "input.h"

/* The Instructions sysvar: u16 count, count x u16 offset; at each offset u16 account count, 33 bytes for each account,
   program id 32, u16 data length, data; the last two bytes of all are the index of the running top-level instruction,
   also during a CPI (Agave: sdk instructions-sysvar, serialize_instructions). The runtime wrote it, so once the
   account's address is checked its offsets need no checks. */

typedef struct {
  const Pubkey *program_id;
  const u8 *data;
  u64 data_len;
} TransactionInstruction;

static inline u64 current_instruction_index(const AccountInfo *sysvar) {
  return read_u16(sysvar->data + sysvar->data_len - 2);
}

static inline void load_instruction(const AccountInfo *sysvar, u64 index, TransactionInstruction *instruction) {
  const u8 *at = sysvar->data + read_u16(sysvar->data + 2 + 2 * index);
  at += 2 + 33 * (u64)read_u16(at);
  instruction->program_id = (const Pubkey *)at;
  instruction->data_len = read_u16(at + 32);
  instruction->data = at + 34;
}
