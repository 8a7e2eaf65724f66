#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/proof.h"

/* require_attested takes the attestor's word of the kind that is asked for: a final one within the escrow's life, at most 300 seconds
   behind the ledger's clock, any one from the creation on and at most 30 seconds before the clock; no sum leaves i64. */

static Escrow escrow;

int main(void) {
  escrow.created_at = nondet_i64();
  escrow.expires_at = nondet_i64();
  escrow.closes_at = nondet_i64();
  escrow.session_key = nondet_bytes32();
  escrow.attestor = nondet_bytes32();
  const Pubkey attestor = nondet_bytes32();
  const Attestation attestation = {.timestamp = nondet_i64(), .deliveries = nondet_u64()};
  const Proof proof = {.attestor = &attestor, .attestation = &attestation};
  bool final = nondet_u8() != 0;
  i64 now = nondet_time();
  u64 error = require_attested(&escrow, &proof, final, now);

  i64 timestamp = attestation.timestamp;
  i64 end = escrow.closes_at != 0 ? escrow.closes_at : escrow.expires_at;
  bool fresh = timestamp >= escrow.created_at && timestamp <= now + 30;
  if (final) fresh &= timestamp < end && timestamp >= now - 300;
  bool same_key = true;
  bool single = true;
  for (u64 i = 0; i < 4; i++) {
    same_key &= attestor.word[i] == escrow.attestor.word[i];
    single &= escrow.session_key.word[i] == 0;
  }
  bool kind = (u32)(attestation.deliveries >> 32) == (final ? 1 : 0) && (!single || (u32)attestation.deliveries == 1);
  CLAIM((error == 0) == (same_key && kind && fresh), "the attestor's, of the kind that is asked for, and of its time");
  CLAIM((error == ERROR_WRONG_ATTESTOR) == !same_key, "the key comes first");
  CLAIM((error == ERROR_WRONG_MESSAGE) == (same_key && !kind), "then the kind");
  return 0;
}
