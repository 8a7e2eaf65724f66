#pragma once

#include "accounts.h"

/* The log of events, a Merkle tree of RFC 6962: docs/protocol.md, "Numbered events". */

#define LEAF_OF_NETWORK 0x00
#define LEAF_OF_ESCROW 0x01
#define HASHED_LEAF 0x00
#define HASHED_NODE 0x01
#define FRONTIER_NODES (sizeof(((CustodyConfig *)0)->frontier) / sizeof(Bytes32))

/* Appends a leaf, whose parts have HASHED_LEAF before them. Where two perfect subtrees of a size stand beside each other they
   become one, as a carry does in `count`. The caller has seen that a node of the frontier is free. */
NOINLINE void append_leaf(CustodyConfig *config, const Slice *parts, u64 part_count) {
  const u8 prefix[] = {HASHED_NODE};
  Bytes32 hash;
  u64 level = 0;
  sol_sha256(parts, part_count, &hash);
  for (u64 left = config->count; left & 1; left >>= 1) {
    const Slice node[] = {{prefix, 1}, {&config->frontier[level++], 32}, {&hash, 32}};
    Bytes32 parent;
    sol_sha256(node, 3, &parent);
    hash = parent;
  }
  config->frontier[level] = hash;
  config->count++;
}

/* Begins the log of a new configuration with leaf 0, which names the ledger and this program. */
NOINLINE void begin_log(CustodyConfig *config, const Bytes32 *genesis_hash, const Pubkey *program_id) {
  const u8 prefix[] = {HASHED_LEAF, LEAF_OF_NETWORK};
  /* The text's last byte, zero, is hashed too. */
  const Slice domain[] = {{"settlement-evidence 3", 22}, {genesis_hash, 32}, {program_id, 32}};
  const Slice leaf[] = {{prefix, 2}, {&config->domain, 32}};
  sol_sha256(domain, 3, &config->domain);
  append_leaf(config, leaf, 2);
}

/* Numbers the event that has just changed an escrow, keeps the number at `seq` inside that escrow, and appends the leaf. Comes after
   every call and every other write of the instruction: the leaf holds the account as the instruction leaves it. */
NOINLINE u64 number_event(CustodyConfig *config, const AccountInfo *account, u64 *seq) {
  const u8 prefix[] = {HASHED_LEAF, LEAF_OF_ESCROW, ((const Escrow *)account->data)->state};
  const Slice bytes = {account->data, ESCROW_SIZE};
  Bytes32 account_hash;
  const Slice leaf[] = {{prefix, 3}, {account->key, 32}, {&account_hash, 32}};
  REQUIRE(config->count + 1 < 1ull << FRONTIER_NODES, ERROR_TOO_MANY_EVENTS);
  *seq = config->count;
  sol_sha256(&bytes, 1, &account_hash);
  append_leaf(config, leaf, 3);
  return 0;
}
