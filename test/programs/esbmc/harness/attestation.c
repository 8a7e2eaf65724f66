#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/attestation.h"

/* has_form says yes exactly to the one form, and reads nothing beyond the data; names_terms and require_attested say yes exactly to
   these terms, and to this message under this key. */
#define MOST 248

static u64 word_at(const u8 *bytes, u64 at) { return *(const u64 *)(bytes + at); }

int main(void) {
  u8 bytes[MOST];
  fill(bytes, MOST);
  u64 len = nondet_u64();
  ASSUME(len <= MOST);
  /* At the end of the array, so that one byte more is beyond it. */
  const u8 *data = bytes + (MOST - len);
  const TransactionInstruction instruction = {NULL, data, len};
  static const u8 header[16] = {1, 0, 48, 0, 0xff, 0xff, 16, 0, 0xff, 0xff, 112, 0, 128, 0, 0xff, 0xff};

  bool formed = len == 240;
  if (formed)
    for (u64 i = 0; i < 16; i++) formed &= data[i] == header[i];
  CLAIM(has_form(&instruction) == formed, "the one form, byte for byte");
  if (!formed) return 0;

  const SignedAttestation *found = (const SignedAttestation *)data;
  const Pubkey attestor = nondet_bytes32();
  Attestation wanted = {.tag = ATTESTATION_TAG,
                        .domain = nondet_bytes32(),
                        .terms = nondet_bytes32(),
                        .proof_hash = nondet_bytes32(),
                        .total = nondet_u64(),
                        .timestamp = nondet_i64(),
                        .deliveries = ONE_FINAL_DELIVERY};
  bool named = true;
  for (u64 at = 0; at < 72; at += 8) named &= word_at(data, 112 + at) == word_at((const u8 *)&wanted, at);
  CLAIM(names_terms(&found->message, &wanted) == named, "the kind, the ledger and the escrow are those wanted");

  u64 error = require_attested(found, &wanted, &attestor);
  bool same_key = true;
  for (u64 i = 0; i < 4; i++) same_key &= word_at(data, 16 + 8 * i) == attestor.word[i];
  CLAIM((error == ERROR_WRONG_ATTESTOR) == !same_key, "the key is the attestor's");
  if (!same_key) return 0;
  bool same = true;
  for (u64 at = 72; at < 128; at += 8) same &= word_at(data, 112 + at) == word_at((const u8 *)&wanted, at);
  CLAIM((error == 0) == same, "the message is the one wanted, at every place behind the terms");
  CLAIM(same || error == ERROR_WRONG_MESSAGE, "nothing else is refused");
  return 0;
}
