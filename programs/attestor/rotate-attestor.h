#pragma once

#include "../sdk/event.h"
#include "accounts.h"

NOINLINE u64 rotate_attestor(Input *input) {
  TRY(require_shape(input, ROTATE_ATTESTOR_ACCOUNTS, ROTATE_ATTESTOR_SIGNERS, ROTATE_ATTESTOR_WRITABLES,
                    ROTATE_ATTESTOR_ARGS_SIZE));
  const RotateAttestorArgs *args = (const RotateAttestorArgs *)input->data;
  Registry *registry;
  const CustodyConfig *config;
  Merchant *merchant;
  REQUIRE(args->revoke <= 1, ERROR_INVALID_INSTRUCTION);
  TRY(load_merchant(input, &input->account[ROTATE_ATTESTOR_MERCHANT], &merchant));
  REQUIRE(same32(&merchant->merchant, input->account[ROTATE_ATTESTOR_MERCHANT_WALLET].key), ERROR_WRONG_MERCHANT);
  TRY(load_registry(input, &input->account[ROTATE_ATTESTOR_REGISTRY], &registry));
  TRY(load_custody_config(&input->account[ROTATE_ATTESTOR_CUSTODY_CONFIG], &registry->custody_program, &config));
  /* The present key again would push the former one off the record. */
  REQUIRE(!is_zero32(&args->attestor) && !same32(&args->attestor, &merchant->attestor), ERROR_INVALID_ATTESTOR);
  merchant->previous_attestor = merchant->attestor;
  merchant->attestor = args->attestor;
  merchant->attestor_since = ledger_time();
  merchant->updated_at = merchant->attestor_since;
  /* By the last event's number, not by time: an escrow made in the same second is on one side or the other. */
  if (args->revoke) merchant->revoked_seq = config->count - 1;
  const AttestorRotated event = {
      .discriminator = EVENT_ATTESTOR_ROTATED,
      .merchant = merchant->merchant,
      .previous_attestor = merchant->previous_attestor,
      .attestor = merchant->attestor,
      .rotated_at = merchant->attestor_since,
      .revoked_seq = merchant->revoked_seq,
  };
  emit(&event, ATTESTOR_ROTATED_SIZE);
  return 0;
}
