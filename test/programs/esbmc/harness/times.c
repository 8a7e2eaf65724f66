#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/attestation.h"

/* require_fresh takes a timestamp exactly when it lies within the escrow's life, at most 300 seconds behind the ledger's clock and
   at most 30 before it (docs/protocol.md, "Attestation"); no sum leaves i64. */

static Escrow escrow;

int main(void) {
  escrow.created_at = nondet_i64();
  escrow.expires_at = nondet_i64();
  i64 timestamp = nondet_i64();
  i64 now = nondet_time();
  u64 error = require_fresh(&escrow, timestamp, now);
  bool alive = timestamp >= escrow.created_at && timestamp < escrow.expires_at;
  CLAIM((error == 0) == (alive && timestamp >= now - 300 && timestamp <= now + 30), "alive, fresh and not from the future");
  CLAIM((error == ERROR_ATTESTATION_OUTSIDE_ESCROW) == !alive, "the escrow's life comes first");
  return 0;
}
