#pragma once

#include "../sdk/event.h"
#include "accounts.h"

/* What only the registry's admin may do: suspend, reinstate, slash. Both instructions take the same accounts. */

_Static_assert(SET_MERCHANT_STATUS_ADMIN == SLASH_MERCHANT_ADMIN && SET_MERCHANT_STATUS_REGISTRY == SLASH_MERCHANT_REGISTRY &&
                   SET_MERCHANT_STATUS_MERCHANT == SLASH_MERCHANT_MERCHANT,
               "one way to load them");

NOINLINE u64 load_administered_merchant(const Input *input, Merchant **merchant) {
  Registry *registry;
  TRY(load_registry(input, &input->account[SLASH_MERCHANT_REGISTRY], &registry));
  REQUIRE(same32(input->account[SLASH_MERCHANT_ADMIN].key, &registry->admin), ERROR_NOT_ADMIN);
  return load_merchant(input, &input->account[SLASH_MERCHANT_MERCHANT], merchant);
}

NOINLINE u64 set_merchant_status(Input *input) {
  TRY(require_shape(input, SET_MERCHANT_STATUS_ACCOUNTS, SET_MERCHANT_STATUS_SIGNERS, SET_MERCHANT_STATUS_WRITABLES,
                    SET_MERCHANT_STATUS_ARGS_SIZE));
  const SetMerchantStatusArgs *args = (const SetMerchantStatusArgs *)input->data;
  Merchant *merchant;
  TRY(load_administered_merchant(input, &merchant));
  REQUIRE(args->status <= MERCHANT_STATUS_SUSPENDED, ERROR_INVALID_STATUS);
  merchant->status = args->status;
  merchant->updated_at = ledger_time();
  const MerchantStatusChanged event = {
      .discriminator = EVENT_MERCHANT_STATUS_CHANGED,
      .merchant = merchant->merchant,
      .status = merchant->status,
      .changed_at = merchant->updated_at,
  };
  emit(&event, MERCHANT_STATUS_CHANGED_SIZE);
  return 0;
}

NOINLINE u64 slash_merchant(Input *input) {
  TRY(require_shape(input, SLASH_MERCHANT_ACCOUNTS, SLASH_MERCHANT_SIGNERS, SLASH_MERCHANT_WRITABLES,
                    SLASH_MERCHANT_ARGS_SIZE));
  const SlashMerchantArgs *args = (const SlashMerchantArgs *)input->data;
  Merchant *merchant;
  TRY(load_administered_merchant(input, &merchant));
  merchant->reputation = merchant->reputation > args->points ? merchant->reputation - args->points : 0;
  if (merchant->slashes != 0xffffffffu) merchant->slashes++;
  merchant->updated_at = ledger_time();
  const MerchantSlashed event = {
      .discriminator = EVENT_MERCHANT_SLASHED,
      .merchant = merchant->merchant,
      .points = args->points,
      .reputation = merchant->reputation,
      .slashed_at = merchant->updated_at,
  };
  emit(&event, MERCHANT_SLASHED_SIZE);
  return 0;
}
