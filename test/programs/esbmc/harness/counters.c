#include "prelude.h"

#define PROGRAM_ATTESTOR
#include "generated/attestor.h"
#include "generated/custody.h"

#include "attestor/record-delivery.h"

/* count_delivery never lowers a statistic. */

static Escrow escrow;
static Merchant merchant;

int main(void) {
  escrow.amount = nondet_u64();
  escrow.mint = nondet_bytes32();
  const Merchant before = {.deliveries = nondet_u64(), .partial_deliveries = nondet_u64(), .reputation = nondet_u32(), .volume = nondet_u64()};
  const Pubkey settlement_mint = nondet_bytes32();
  u64 total = nondet_u64();
  merchant = before;
  count_delivery(&merchant, &escrow, total, &settlement_mint);
  u64 counted = merchant.deliveries - before.deliveries + (merchant.partial_deliveries - before.partial_deliveries);
  CLAIM(merchant.deliveries >= before.deliveries && merchant.partial_deliveries >= before.partial_deliveries &&
            merchant.reputation >= before.reputation && merchant.volume >= before.volume && counted <= 1,
        "statistics stop at their maximum, and one delivery counts once");
  CLAIM(total == escrow.amount ? merchant.partial_deliveries == before.partial_deliveries
                               : merchant.deliveries == before.deliveries,
        "all of the amount is a delivery, less a partial one");
  return 0;
}
