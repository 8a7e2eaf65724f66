#pragma once

#include "../sdk/instructions-sysvar.h"
#include "terms.h"

/* The attestation: an Ed25519 precompile instruction that comes earlier in the transaction, whose signature the runtime
   has therefore checked. What was signed, by whom, and that the runtime checked those very bytes, is checked here. */

/* What the attestor signs. Its first three members say of which kind, ledger and escrow it is. */
typedef struct {
  u64 tag;
  Bytes32 domain;
  Bytes32 terms;
  Bytes32 proof_hash;
  u64 total;
  i64 timestamp;
  u64 deliveries; /* deliveries u32 | final u8 | 0 0 0, compared as one word */
} Attestation;
_Static_assert(sizeof(Attestation) == 128, "Attestation has no padding");
#define ONE_FINAL_DELIVERY 0x0000000100000001ull
#define ATTESTATION_TAG 0x3320747365747461ull /* "attest 3" */

/* The one form of the precompile's data that counts (Agave: precompiles/src/ed25519.rs): one signature, and for each part its
   offset in this very instruction, whose index is 0xffff. */
typedef struct {
  u64 header[2];
  Pubkey key;
  Bytes64 signature;
  Attestation message;
} SignedAttestation;
_Static_assert(__builtin_offsetof(SignedAttestation, key) == 16 && __builtin_offsetof(SignedAttestation, signature) == 48 &&
                   __builtin_offsetof(SignedAttestation, message) == 112 && sizeof(SignedAttestation) == 240,
               "as the header says");
#define ONE_SIGNATURE 0x0010ffff00300001ull        /* count 1 | 0 | signature 48, 0xffff | key 16 */
#define ALL_IN_ITS_OWN_DATA 0xffff00800070ffffull /* 0xffff | message 112, length 128, 0xffff */

static inline bool has_form(const TransactionInstruction *instruction) {
  const SignedAttestation *found = (const SignedAttestation *)instruction->data;
  return instruction->data_len == sizeof(SignedAttestation) && found->header[0] == ONE_SIGNATURE &&
         found->header[1] == ALL_IN_ITS_OWN_DATA;
}

static inline bool names_terms(const Attestation *found, const Attestation *wanted) {
  return found->tag == wanted->tag && same32(&found->domain, &wanted->domain) && same32(&found->terms, &wanted->terms);
}

/* The first instruction before the running one that has the form and names the terms. A transaction may settle several escrows, so
   others are passed over; if none is left, the error says how near the transaction came. */
NOINLINE u64 find_attestation(const AccountInfo *sysvar, const Attestation *wanted, const SignedAttestation **found) {
  u64 current = current_instruction_index(sysvar);
  u64 error = ERROR_ATTESTATION_MISSING;
  for (u64 index = 0; index < current; index++) {
    TransactionInstruction instruction;
    load_instruction(sysvar, index, &instruction);
    if (!same32(instruction.program_id, &ADDRESS_ED25519_PROGRAM)) continue;
    if (!has_form(&instruction)) {
      if (error == ERROR_ATTESTATION_MISSING) error = ERROR_ATTESTATION_MALFORMED;
      continue;
    }
    *found = (const SignedAttestation *)instruction.data;
    if (names_terms(&(*found)->message, wanted)) return 0;
    error = ERROR_WRONG_TERMS;
  }
  return error;
}

/* That the attestation found is the one wanted, of the escrow's attestor. */
NOINLINE u64 require_attested(const SignedAttestation *found, const Attestation *wanted, const Pubkey *attestor) {
  const Attestation *message = &found->message;
  REQUIRE(same32(&found->key, attestor), ERROR_WRONG_ATTESTOR);
  REQUIRE(same32(&message->proof_hash, &wanted->proof_hash) && message->total == wanted->total &&
              message->timestamp == wanted->timestamp && message->deliveries == wanted->deliveries,
          ERROR_WRONG_MESSAGE);
  return 0;
}

/* The timestamp lies within the escrow's life and near the ledger's clock. */
static inline u64 require_fresh(const Escrow *escrow, i64 timestamp, i64 now) {
  REQUIRE(timestamp >= escrow->created_at && timestamp < escrow->expires_at, ERROR_ATTESTATION_OUTSIDE_ESCROW);
  REQUIRE(timestamp >= now - MAX_ATTESTATION_AGE_SECONDS, ERROR_ATTESTATION_STALE);
  REQUIRE(timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS, ERROR_ATTESTATION_FROM_FUTURE);
  return 0;
}
