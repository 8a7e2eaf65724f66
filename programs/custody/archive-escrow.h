#pragma once

#include "return-rent.h"
#include "terms.h"

/* Shortens the account to its tombstone: the length that the runtime reads back stands before the data. */
NOINLINE void bury(const AccountInfo *account) {
  Escrow *escrow = (Escrow *)account->data;
  ArchivedEscrow tombstone = {
      .discriminator = ACCOUNT_ARCHIVED_ESCROW,
      .created_seq = escrow->created_seq,
      .settled_seq = escrow->settled_seq,
      .state = escrow->state,
      .version = escrow->version,
  };
  hash_escrow(escrow, &tombstone.last_hash);
  hash_terms(escrow, &tombstone.pending_hash);
  *(u64 *)(account->data - 8) = ARCHIVED_ESCROW_SIZE;
  *(ArchivedEscrow *)account->data = tombstone;
}

NOINLINE u64 archive_escrow(Input *input) {
  TRY(require_shape(input, ARCHIVE_ESCROW_ACCOUNTS, ARCHIVE_ESCROW_SIGNERS, ARCHIVE_ESCROW_WRITABLES,
                    ARCHIVE_ESCROW_ARGS_SIZE));
  const ArchiveEscrowArgs *args = (const ArchiveEscrowArgs *)input->data;
  const AccountInfo *account = &input->account[ARCHIVE_ESCROW_ESCROW];
  const AccountInfo *rent_payer = &input->account[ARCHIVE_ESCROW_RENT_PAYER];
  LoadedEscrow *loaded = (LoadedEscrow *)HEAP_STATE;
  i32 difference;
  TRY(load_escrow(input, account, loaded));
  REQUIRE(loaded->data->state != ESCROW_STATE_PENDING, ERROR_NOT_SETTLED);
  REQUIRE(ledger_time() >= loaded->data->settled_at + ARCHIVE_DELAY_SECONDS, ERROR_NOT_ARCHIVABLE);
  REQUIRE(same32(rent_payer->key, &loaded->data->rent_payer), ERROR_WRONG_RENT_PAYER);
  sol_memcmp_(args->last_bytes, account->data, ESCROW_SIZE, &difference);
  REQUIRE(difference == 0, ERROR_WRONG_LAST_BYTES);
  bury(account);
  give_rent(account, ARCHIVED_ESCROW_SIZE, rent_payer);
  return 0;
}
