#pragma once

#include "../sdk/instructions-sysvar.h"
#include "terms.h"

/* What proves a delivery: an Ed25519 precompile instruction that comes earlier in the transaction, whose signatures the runtime has
   therefore checked. What was signed, by whom, and that the runtime checked those very bytes, is checked here. */

/* What every signed message begins with: of which kind, ledger and escrow it is. */
typedef struct {
  u64 tag;
  Bytes32 domain;
  Bytes32 terms;
} Named;

/* What the attestor signs: what was delivered so far. */
typedef struct {
  Named named;
  Bytes32 proof_hash;
  u64 total;
  i64 timestamp;
  u64 deliveries; /* deliveries u32 | final u8 | 0 0 0 */
} Attestation;
_Static_assert(sizeof(Attestation) == 128, "Attestation has no padding");
#define ATTESTATION_TAG 0x3320747365747461ull /* "attest 3" */

/* What the session key signs: what may be taken so far. */
typedef struct {
  Named named;
  Bytes32 orders;
  u64 total;
  u64 count; /* count u32 | closing u8 | 0 0 0 */
} Voucher;
_Static_assert(sizeof(Voucher) == 120, "Voucher has no padding");
#define VOUCHER_TAG 0x3372656863756f76ull /* "voucher3" */

/* The last word of either message: a count, and behind it whether it is the last one. */
static inline u64 count_in(u64 word) { return word & 0xffffffffull; }
static inline u64 last_in(u64 word) { return word >> 32; }

/* The one form of the precompile's data that counts for a single payment (Agave: precompiles/src/ed25519.rs): one signature, and for
   each part its offset in this very instruction, whose index is 0xffff. */
typedef struct {
  u64 header[2];
  Pubkey attestor;
  Bytes64 signature;
  Attestation attestation;
} OneSignature;
_Static_assert(__builtin_offsetof(OneSignature, attestor) == 16 && __builtin_offsetof(OneSignature, signature) == 48 &&
                   __builtin_offsetof(OneSignature, attestation) == 112 && sizeof(OneSignature) == 240,
               "as the header says");
#define ONE_SIGNATURE 0x0010ffff00300001ull       /* count 1 | 0 | signature 48, 0xffff | key 16 */
#define ALL_IN_ITS_OWN_DATA 0xffff00800070ffffull /* 0xffff | message 112, length 128, 0xffff */

/* And the one for a session. Its parts stand two bytes past a word, so it is read from the two bytes before the data, where the sysvar
   has the data's length: the first word of the header says that too. */
typedef struct {
  u64 header[4];
  Pubkey attestor;
  Bytes64 signature;
  Pubkey session_key;
  Bytes64 session_signature;
  Attestation attestation;
  Voucher voucher;
} TwoSignatures;
#define BEFORE_DATA 2
_Static_assert(__builtin_offsetof(TwoSignatures, attestor) == 30 + BEFORE_DATA &&
                   __builtin_offsetof(TwoSignatures, signature) == 62 + BEFORE_DATA &&
                   __builtin_offsetof(TwoSignatures, session_key) == 126 + BEFORE_DATA &&
                   __builtin_offsetof(TwoSignatures, session_signature) == 158 + BEFORE_DATA &&
                   __builtin_offsetof(TwoSignatures, attestation) == 222 + BEFORE_DATA &&
                   __builtin_offsetof(TwoSignatures, voucher) == 350 + BEFORE_DATA &&
                   sizeof(TwoSignatures) == 470 + BEFORE_DATA,
               "as the header says");
#define TWO_SIGNATURES 0xffff003e000201d6ull    /* length 470 | count 2 | 0 | signature 62, 0xffff */
#define ATTESTED_MESSAGE 0x008000deffff001eull  /* key 30, 0xffff | message 222, length 128 */
#define SESSION_SIGNATURE 0x007effff009effffull /* 0xffff | signature 158, 0xffff | key 126 */
#define VOUCHER_MESSAGE 0xffff0078015effffull   /* 0xffff | message 350, length 120, 0xffff */

/* A signed attestation and, of a session, the signed voucher, where they stand in the transaction. */
typedef struct {
  const Pubkey *attestor;
  const Bytes64 *signature;
  const Attestation *attestation;
  const Pubkey *session_key;
  const Voucher *voucher;
} Proof;

static inline const OneSignature *as_one_signature(const TransactionInstruction *instruction) {
  const OneSignature *found = (const OneSignature *)instruction->data;
  bool has_form = instruction->data_len == sizeof(OneSignature) && found->header[0] == ONE_SIGNATURE &&
                  found->header[1] == ALL_IN_ITS_OWN_DATA;
  return has_form ? found : NULL;
}

static inline const TwoSignatures *as_two_signatures(const TransactionInstruction *instruction) {
  const TwoSignatures *found = (const TwoSignatures *)(instruction->data - BEFORE_DATA);
  bool has_form = instruction->data_len == sizeof(TwoSignatures) - BEFORE_DATA && found->header[0] == TWO_SIGNATURES &&
                  found->header[1] == ATTESTED_MESSAGE && found->header[2] == SESSION_SIGNATURE &&
                  found->header[3] == VOUCHER_MESSAGE;
  return has_form ? found : NULL;
}

static inline bool names_escrow(const Named *found, u64 tag, const Named *wanted) {
  return found->tag == tag && same32(&found->domain, &wanted->domain) && same32(&found->terms, &wanted->terms);
}

/* Whether an Ed25519 instruction is the proof for the escrow that `wanted` names: 0, or what it lacks. */
NOINLINE u64 read_proof(const TransactionInstruction *instruction, const Named *wanted, bool session, Proof *proof) {
  const OneSignature *one = as_one_signature(instruction);
  const TwoSignatures *two = as_two_signatures(instruction);
  if (session && two) {
    *proof = (Proof){&two->attestor, &two->signature, &two->attestation, &two->session_key, &two->voucher};
    bool named = names_escrow(&two->attestation.named, ATTESTATION_TAG, wanted) &&
                 names_escrow(&two->voucher.named, VOUCHER_TAG, wanted);
    return named ? 0 : ERROR_WRONG_TERMS;
  }
  if (!one) return ERROR_ATTESTATION_MALFORMED;
  bool named = names_escrow(&one->attestation.named, ATTESTATION_TAG, wanted);
  if (session) return named ? ERROR_VOUCHER_MISSING : ERROR_ATTESTATION_MALFORMED;
  *proof = (Proof){&one->attestor, &one->signature, &one->attestation, NULL, NULL};
  return named ? 0 : ERROR_WRONG_TERMS;
}
_Static_assert(ERROR_ATTESTATION_MISSING < ERROR_ATTESTATION_MALFORMED && ERROR_ATTESTATION_MALFORMED < ERROR_WRONG_TERMS &&
                   ERROR_WRONG_TERMS < ERROR_VOUCHER_MISSING,
               "the nearer to a proof, the higher its error");

/* The first proof before the running instruction. A transaction may settle several escrows, so others are passed over; if none is left,
   the error says how near the transaction came. */
NOINLINE u64 find_proof(const AccountInfo *sysvar, const Named *wanted, bool session, Proof *proof) {
  u64 current = current_instruction_index(sysvar);
  u64 error = ERROR_ATTESTATION_MISSING;
  for (u64 index = 0; index < current; index++) {
    TransactionInstruction instruction;
    load_instruction(sysvar, index, &instruction);
    if (!same32(instruction.program_id, &ADDRESS_ED25519_PROGRAM)) continue;
    u64 lacks = read_proof(&instruction, wanted, session, proof);
    if (lacks == 0) return 0;
    if (lacks > error) error = lacks;
  }
  return error;
}

/* The attestation is of the escrow's attestor, of the kind that is asked for, and of its time: a final one is near the ledger's clock. */
NOINLINE u64 require_attested(const Escrow *escrow, const Proof *proof, bool final, i64 now) {
  const Attestation *found = proof->attestation;
  i64 timestamp = found->timestamp;
  REQUIRE(same32(proof->attestor, &escrow->attestor), ERROR_WRONG_ATTESTOR);
  REQUIRE(last_in(found->deliveries) == final, ERROR_WRONG_MESSAGE);
  REQUIRE(is_session(escrow) || count_in(found->deliveries) == 1, ERROR_WRONG_MESSAGE);
  REQUIRE(timestamp >= escrow->created_at, ERROR_ATTESTATION_OUTSIDE_ESCROW);
  if (final) {
    REQUIRE(timestamp < end_of(escrow), ERROR_ATTESTATION_OUTSIDE_ESCROW);
    REQUIRE(timestamp >= now - MAX_ATTESTATION_AGE_SECONDS, ERROR_ATTESTATION_STALE);
  }
  REQUIRE(timestamp <= now + MAX_ATTESTATION_LEAD_SECONDS, ERROR_ATTESTATION_FROM_FUTURE);
  return 0;
}

/* The voucher is of the session key and allows what is attested; at the end exactly that. */
NOINLINE u64 require_vouched(const Escrow *escrow, const Proof *proof, bool final) {
  const Attestation *attested = proof->attestation;
  const Voucher *voucher = proof->voucher;
  u64 deliveries = count_in(attested->deliveries);
  u64 count = count_in(voucher->count);
  REQUIRE(same32(proof->session_key, &escrow->session_key), ERROR_WRONG_SESSION_KEY);
  if (final)
    REQUIRE(last_in(voucher->count) == 1 && attested->total == voucher->total && deliveries == count,
            ERROR_WRONG_VOUCHER);
  else
    REQUIRE(last_in(voucher->count) <= 1 && attested->total <= voucher->total && deliveries <= count,
            ERROR_WRONG_VOUCHER);
  return 0;
}
