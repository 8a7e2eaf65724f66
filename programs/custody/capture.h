#pragma once

#include "../sdk/event.h"
#include "payment.h"

NOINLINE void emit_escrow_captured(const Pubkey *key, const Escrow *escrow, u64 captured) {
  const EscrowCaptured event = {
      .discriminator = EVENT_ESCROW_CAPTURED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .captured = captured,
      .released = escrow->released,
      .proof_hash = escrow->proof_hash,
      .attestor = escrow->attestor,
      .attested_at = escrow->attested_at,
      .deliveries = escrow->deliveries,
  };
  emit(&event, ESCROW_CAPTURED_SIZE);
}

NOINLINE u64 capture(Input *input) {
  TRY(require_shape(input, CAPTURE_ACCOUNTS, CAPTURE_SIGNERS, CAPTURE_WRITABLES, CAPTURE_ARGS_SIZE));
  const AccountInfo *account = input->account;
  Payment *payment = (Payment *)HEAP_STATE;
  const LoadedEscrow *loaded = &payment->escrow;
  i64 now = ledger_time();
  TRY(load_payment(input, &account[CAPTURE_TOKEN_PROGRAM], false, now, payment));
  TRY(prove_payment(&account[CAPTURE_INSTRUCTIONS_SYSVAR], false, now, payment));
  TRY(pay_from_vault(input, loaded, payment->vault, payment->paid, payment->due));
  loaded->data->released = payment->total;
  emit_escrow_captured(loaded->account->key, loaded->data, payment->due);
  return 0;
}
