#pragma once

#include "payment.h"
#include "settle.h"

/* Has the recorded attestor program count the delivery. The escrow's signature is lent to that program with nothing writable beside it
   but the merchant's own account, checked before. The registry is for the attestor program to check: only it reads it. */
NOINLINE u64 record_delivery(const Input *input, const LoadedEscrow *escrow, u64 total) {
  const AccountInfo *account = input->account;
  Call *call = new_call(account[RELEASE_ESCROW_ATTESTOR_PROGRAM].key);
  call_account(call, escrow->account, true, false);
  call_account(call, &account[RELEASE_ESCROW_MERCHANT], false, true);
  call_account(call, &account[RELEASE_ESCROW_REGISTRY], false, false);
  call_u64(call, IX_RECORD_DELIVERY);
  call_u64(call, total);
  return invoke(call, input, escrow->seeds, ESCROW_SEEDS);
}

NOINLINE u64 release_escrow(Input *input) {
  TRY(require_shape(input, RELEASE_ESCROW_ACCOUNTS, RELEASE_ESCROW_SIGNERS, RELEASE_ESCROW_WRITABLES,
                    RELEASE_ESCROW_ARGS_SIZE));
  const AccountInfo *account = input->account;
  Payment *payment = (Payment *)HEAP_STATE;
  const LoadedEscrow *loaded = &payment->escrow;
  i64 now = ledger_time();
  TRY(load_payment(input, &account[RELEASE_ESCROW_TOKEN_PROGRAM], true, now, payment));
  REQUIRE(same32(account[RELEASE_ESCROW_ATTESTOR_PROGRAM].key, &payment->config->attestor_program),
          ERROR_WRONG_ATTESTOR_PROGRAM);
  TRY(prove_payment(&account[RELEASE_ESCROW_INSTRUCTIONS_SYSVAR], true, now, payment));
  TRY(record_delivery(input, loaded, payment->total));

  /* Nobody else has a claim then: what strangers sent goes along, and the vault is not needed any more. */
  bool whole = payment->total == loaded->data->amount;
  u64 due = whole ? token_amount(payment->vault) : payment->due;
  TRY(pay_from_vault(input, loaded, payment->vault, payment->paid, due));
  if (whole) TRY(close_vault(input, loaded, payment->vault));
  loaded->data->released = payment->total;
  return settle(payment->config, loaded, SETTLED_BY_RELEASE, now);
}
