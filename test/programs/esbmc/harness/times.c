#include "prelude.h"

#define PROGRAM_ATTESTOR
#include "generated/attestor.h"
#include "generated/custody.h"

#include "attestor/verify-attestation.h"

/* require_fresh takes a timestamp exactly when it lies within the escrow's life, at most 300 seconds behind the ledger's clock and
   at most 30 before it (docs/protocol.md, "Attestation"); no sum leaves i64. count_delivery never lowers a statistic. */

static Escrow escrow;
static Merchant merchant;

int main(void) {
  escrow.created_at = nondet_i64();
  escrow.expires_at = nondet_i64();
  escrow.amount = nondet_u64();
  escrow.mint = nondet_bytes32();
  i64 timestamp = nondet_i64();
  i64 now = nondet_time();
  u64 error = require_fresh(&escrow, timestamp, now);
  bool alive = timestamp >= escrow.created_at && timestamp < escrow.expires_at;
  CLAIM((error == 0) == (alive && timestamp >= now - 300 && timestamp <= now + 30), "alive, fresh and not from the future");
  CLAIM((error == ERROR_ATTESTATION_OUTSIDE_ESCROW) == !alive, "the escrow's life comes first");

  const Merchant before = {.deliveries = nondet_u64(), .partial_deliveries = nondet_u64(), .reputation = nondet_u32(), .volume = nondet_u64()};
  const Pubkey settlement_mint = nondet_bytes32();
  u64 partial_amount = nondet_u64();
  merchant = before;
  count_delivery(&merchant, &escrow, partial_amount, &settlement_mint);
  u64 counted = merchant.deliveries - before.deliveries + (merchant.partial_deliveries - before.partial_deliveries);
  CLAIM(merchant.deliveries >= before.deliveries && merchant.partial_deliveries >= before.partial_deliveries &&
            merchant.reputation >= before.reputation && merchant.volume >= before.volume && counted <= 1,
        "statistics stop at their maximum, and one delivery counts once");
  return 0;
}
