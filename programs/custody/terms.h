#pragma once

#include "accounts.h"

/* What a signature names of an escrow: docs/protocol.md, "Attestation". */

NOINLINE void hash_escrow(const Escrow *escrow, Bytes32 *digest) {
  const Slice bytes = {escrow, ESCROW_SIZE};
  sol_sha256(&bytes, 1, digest);
}

/* The digest of the account's bytes right after its creation. */
NOINLINE void hash_terms(const Escrow *escrow, Bytes32 *terms) {
  Escrow created;
  sol_memcpy_(&created, escrow, ESCROW_SIZE);
  undo_escrow(&created);
  hash_escrow(&created, terms);
}
