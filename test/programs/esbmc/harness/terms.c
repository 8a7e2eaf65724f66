#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/terms.h"

/* Whatever captures, a closing and a settlement wrote in an escrow, hash_terms hashes the bytes of its creation: undo(settle(x)) = x. */

static Escrow created, settled;
/* For a place that may be any, equality there is equality. */
static u64 any_place;

u64 sol_memcpy_(void *target, const void *source, u64 len) {
  CLAIM(len == sizeof(Escrow), "the whole account is copied");
  *(Escrow *)target = *(const Escrow *)source;
  return 0;
}

u64 sol_sha256(const Slice *parts, u64 part_count, Bytes32 *digest) {
  CLAIM(part_count == 1 && parts->len == ESCROW_SIZE, "the whole account is hashed");
  CLAIM(((const u8 *)parts->address)[any_place] == ((const u8 *)&created)[any_place], "as it was created, at every place");
  *digest = nondet_bytes32();
  return 0;
}

static Bytes64 nondet_bytes64(void) {
  const Bytes64 value = {{nondet_u64(), nondet_u64(), nondet_u64(), nondet_u64(), nondet_u64(), nondet_u64(), nondet_u64(),
                          nondet_u64()}};
  return value;
}

int main(void) {
  created.discriminator = nondet_u64();
  created.version = nondet_u8();
  created.bump = nondet_u8();
  created.vault_bump = nondet_u8();
  created.agent_owner = nondet_bytes32();
  created.merchant = nondet_bytes32();
  created.mint = nondet_bytes32();
  created.rent_payer = nondet_bytes32();
  created.task_hash = nondet_bytes32();
  created.amount = nondet_u64();
  created.created_at = nondet_i64();
  created.expires_at = nondet_i64();
  created.attestor = nondet_bytes32();
  created.created_seq = nondet_u64();
  created.session_key = nondet_bytes32();

  settled = created;
  settled.state = nondet_u8();
  settled.released = nondet_u64();
  settled.settled_at = nondet_i64();
  settled.proof_hash = nondet_bytes32();
  settled.attested_at = nondet_i64();
  settled.attestation_signature = nondet_bytes64();
  settled.settled_seq = nondet_u64();
  settled.deliveries = nondet_u32();
  settled.settled_by = nondet_u8();
  settled.closes_at = nondet_i64();
  any_place = nondet_u64();
  ASSUME(any_place < ESCROW_SIZE);
  Bytes32 terms;
  hash_terms(&settled, &terms);
  return 0;
}
