#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/proof.h"

/* require_vouched: a capture takes at most what the session key allows, a release exactly that, and no other key allows anything. */

static Escrow escrow;

int main(void) {
  escrow.session_key = nondet_bytes32();
  const Pubkey session_key = nondet_bytes32();
  Attestation attestation = {.total = nondet_u64(), .deliveries = nondet_u64()};
  Voucher voucher = {.total = nondet_u64(), .count = nondet_u64()};
  const Proof proof = {.attestation = &attestation, .session_key = &session_key, .voucher = &voucher};
  bool final = nondet_u8() != 0;
  u64 error = require_vouched(&escrow, &proof, final);
  u32 deliveries = (u32)attestation.deliveries;
  u32 count = (u32)voucher.count;
  u32 last = (u32)(voucher.count >> 32);
  bool same_key = true;
  for (u64 i = 0; i < 4; i++) same_key &= session_key.word[i] == escrow.session_key.word[i];
  bool allowed = final ? attestation.total == voucher.total && deliveries == count && last == 1
                       : attestation.total <= voucher.total && deliveries <= count && last <= 1;
  CLAIM((error == 0) == (same_key && allowed), "what the session key allows, and nothing else");
  CLAIM((error == ERROR_WRONG_SESSION_KEY) == !same_key, "the key comes first");
  return 0;
}
