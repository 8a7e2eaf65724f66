#pragma once

#include "../sdk/event.h"
#include "ledger-event.h"

/* How an escrow was settled, as its `settled_by` says. */
enum { SETTLED_BY_RELEASE = 1, SETTLED_BY_REFUND = 2, SETTLED_BY_CANCEL = 3 };

NOINLINE void emit_escrow_settled(const Pubkey *key, const Escrow *escrow) {
  const EscrowSettled event = {
      .discriminator = EVENT_ESCROW_SETTLED,
      .escrow = *key,
      .agent_owner = escrow->agent_owner,
      .merchant = escrow->merchant,
      .mint = escrow->mint,
      .amount = escrow->amount,
      .released = escrow->released,
      .proof_hash = escrow->proof_hash,
      .attestor = escrow->attestor,
      .attested_at = escrow->attested_at,
      .settled_at = escrow->settled_at,
      .seq = escrow->settled_seq,
      .deliveries = escrow->deliveries,
      .state = escrow->state,
      .settled_by = escrow->settled_by,
  };
  emit(&event, ESCROW_SETTLED_SIZE);
}

/* Ends an escrow with what was released of it. Comes last, as number_event does: no byte of the account changes any more. */
NOINLINE u64 settle(CustodyConfig *config, const LoadedEscrow *loaded, u8 settled_by, i64 now) {
  Escrow *escrow = loaded->data;
  escrow->state = escrow->released == 0                ? ESCROW_STATE_REFUNDED
                  : escrow->released == escrow->amount ? ESCROW_STATE_FULFILLED
                                                       : ESCROW_STATE_PARTIALLY_FULFILLED;
  escrow->settled_by = settled_by;
  escrow->settled_at = now;
  TRY(number_event(config, loaded->account, &escrow->settled_seq));
  emit_escrow_settled(loaded->account->key, escrow);
  return 0;
}
