#pragma once

#include "accounts.h"

/* The numbering of events: docs/protocol.md, "Numbered events". */

#define LEAF_OF_ESCROW 0x01

/* Numbers the event that has just changed an escrow, keeps the number at `seq` inside that escrow, and chains the leaf. Comes after
   every call and every other write of the instruction: the leaf holds the account as the instruction leaves it. */
NOINLINE void number_event(CustodyConfig *config, const AccountInfo *account, u64 *seq) {
  const u8 kind[] = {LEAF_OF_ESCROW, ((const Escrow *)account->data)->state};
  Bytes32 account_hash;
  Bytes32 head;
  *seq = ++config->count;
  const Slice bytes = {account->data, ESCROW_SIZE};
  sol_sha256(&bytes, 1, &account_hash);
  const Slice link[] = {{&config->head, 32}, {kind, 2}, {account->key, 32}, {&account_hash, 32}};
  sol_sha256(link, 4, &head);
  config->head = head;
}
