#pragma once

#include "accounts.h"

/* Counts a delivery. Counters stop at their maximum rather than block a settlement. */
static inline void count_delivery(Merchant *merchant, const Escrow *escrow, u64 total, const Pubkey *settlement_mint) {
  u64 *deliveries = total == escrow->amount ? &merchant->deliveries : &merchant->partial_deliveries;
  if (*deliveries != ~0ull) (*deliveries)++;
  if (!same32(&escrow->mint, settlement_mint)) return;
  if (merchant->reputation != 0xffffffffu) merchant->reputation++;
  merchant->volume = total > ~0ull - merchant->volume ? ~0ull : merchant->volume + total;
}

NOINLINE u64 record_delivery(Input *input) {
  TRY(require_shape(input, RECORD_DELIVERY_ACCOUNTS, RECORD_DELIVERY_SIGNERS, RECORD_DELIVERY_WRITABLES,
                    RECORD_DELIVERY_ARGS_SIZE));
  const RecordDeliveryArgs *args = (const RecordDeliveryArgs *)input->data;
  const AccountInfo *account = input->account;
  Registry *registry;
  const Escrow *escrow;
  Merchant *merchant;
  TRY(load_registry(input, &account[RECORD_DELIVERY_REGISTRY], &registry));
  TRY(load_pending_escrow(&account[RECORD_DELIVERY_ESCROW], &registry->custody_program, &escrow));
  TRY(load_merchant(input, &account[RECORD_DELIVERY_MERCHANT], &merchant));
  REQUIRE(same32(&merchant->merchant, &escrow->merchant), ERROR_WRONG_MERCHANT);
  count_delivery(merchant, escrow, args->total, &registry->settlement_mint);
  merchant->updated_at = ledger_time();
  return 0;
}
