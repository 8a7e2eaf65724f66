#pragma once

#include "../sdk/instructions-sysvar.h"
#include "accounts.h"

/* The attestation: an Ed25519 precompile instruction that comes earlier in the transaction, whose signature the runtime
   has therefore checked. What was signed, by whom, and that the runtime checked those very bytes, is checked here. */

/* escrow 32 | proof_hash 32 | timestamp i64, and for a partial release | amount u64 */
typedef struct {
  Pubkey escrow;
  Bytes32 proof_hash;
  i64 timestamp;
  u64 partial_amount;
} Message;
_Static_assert(sizeof(Message) == 80, "Message has no padding");
#define FULL_MESSAGE_SIZE 72
#define PARTIAL_MESSAGE_SIZE 80

/* The precompile's data (Agave: precompiles/src/ed25519.rs): u8 signature count, u8 padding, then these offsets into
   the data of the instruction whose index stands beside them, 0xffff being the precompile instruction itself. */
typedef struct {
  u8 count;
  u8 padding;
  u16 signature_at;
  u16 signature_in;
  u16 key_at;
  u16 key_in;
  u16 message_at;
  u16 message_len;
  u16 message_in;
} Ed25519Header;
_Static_assert(sizeof(Ed25519Header) == 16, "Ed25519Header has no padding");
#define OWN_DATA 0xffff

/* Whether one Ed25519 instruction is the attestation wanted; if so its signature is in `signature`. */
NOINLINE u64 match_attestation(const TransactionInstruction *instruction, const Pubkey *attestor,
                                                       const Message *message, const Bytes64 **signature) {
  const Ed25519Header *header = (const Ed25519Header *)instruction->data;
  u64 len = instruction->data_len;
  REQUIRE(len >= sizeof(Ed25519Header) && header->count == 1, ERROR_ATTESTATION_MALFORMED);
  REQUIRE(header->signature_in == OWN_DATA && header->key_in == OWN_DATA && header->message_in == OWN_DATA,
          ERROR_ATTESTATION_MALFORMED);
  REQUIRE((u64)header->signature_at + 64 <= len && (u64)header->key_at + 32 <= len &&
              (u64)header->message_at + header->message_len <= len,
          ERROR_ATTESTATION_MALFORMED);
  REQUIRE(same32((const Pubkey *)(instruction->data + header->key_at), attestor), ERROR_WRONG_ATTESTOR);
  u64 expected_len = message->partial_amount == 0 ? FULL_MESSAGE_SIZE : PARTIAL_MESSAGE_SIZE;
  REQUIRE(header->message_len == expected_len, ERROR_WRONG_MESSAGE);
  i32 difference;
  sol_memcmp_(instruction->data + header->message_at, message, expected_len, &difference);
  REQUIRE(difference == 0, ERROR_WRONG_MESSAGE);
  *signature = (const Bytes64 *)(instruction->data + header->signature_at);
  return 0;
}

/* Looks for the attestation among the instructions before the running one. A transaction may settle several escrows, so
   one that does not match is passed over; if none does, the reason of the last one is the error. */
NOINLINE u64 find_attestation(const AccountInfo *sysvar, const Pubkey *attestor,
                                                      const Message *message, const Bytes64 **signature) {
  u64 current = current_instruction_index(sysvar);
  u64 error = ERROR_ATTESTATION_MISSING;
  for (u64 index = 0; index < current; index++) {
    TransactionInstruction instruction;
    load_instruction(sysvar, index, &instruction);
    if (!same32(instruction.program_id, &ADDRESS_ED25519_PROGRAM)) continue;
    error = match_attestation(&instruction, attestor, message, signature);
    if (error == 0) return 0;
  }
  return error;
}
