#include "prelude.h"

#define PROGRAM_CUSTODY
#include "generated/attestor.h"
#include "generated/custody.h"

#include "custody/proof.h"

/* Each of the two forms is taken byte for byte, and nothing beyond the data is read but the length that stands before it; what is
   found names this ledger and these terms, and lies where the header says. */
#define MOST 480

static u64 word_at(const u8 *bytes, u64 at) {
  u64 word = 0;
  for (u64 i = 8; i > 0; i--) word = word << 8 | bytes[at + i - 1];
  return word;
}

static const u8 one_header[16] = {1, 0, 48, 0, 0xff, 0xff, 16, 0, 0xff, 0xff, 112, 0, 128, 0, 0xff, 0xff};
static const u8 two_header[30] = {2,    0,    62,   0,    0xff, 0xff, 30,   0,    0xff, 0xff, 222,  0, 128, 0,    0xff, 0xff,
                                  158,  0,    0xff, 0xff, 126,  0,    0xff, 0xff, 94,   1,    120,  0, 0xff, 0xff};

/* As the sysvar has it: the length of the data before the data. */
static u8 bytes[2 + MOST];

static bool is_named(u64 at, u64 tag, const Named *wanted) {
  bool named = word_at(bytes, 2 + at) == tag;
  for (u64 i = 0; i < 4; i++) named &= word_at(bytes, 2 + at + 8 + 8 * i) == wanted->domain.word[i];
  for (u64 i = 0; i < 4; i++) named &= word_at(bytes, 2 + at + 40 + 8 * i) == wanted->terms.word[i];
  return named;
}

int main(void) {
  u64 len = nondet_u64();
  ASSUME(len == 240 || len == 470 || len == 239 || len == 241 || len == 469 || len == 471);
  fill(bytes, sizeof(bytes));
  bytes[0] = (u8)len;
  bytes[1] = (u8)(len >> 8);
  const TransactionInstruction instruction = {NULL, bytes + 2, len};
  bool session = nondet_u8() != 0;
  const Named wanted = {.tag = 0, .domain = nondet_bytes32(), .terms = nondet_bytes32()};
  Proof proof;
  u64 error = read_proof(&instruction, &wanted, session, &proof);

  bool one = len == 240;
  for (u64 i = 0; i < 16; i++) one &= bytes[2 + i] == one_header[i];
  bool two = len == 470;
  for (u64 i = 0; i < 30; i++) two &= bytes[2 + i] == two_header[i];
  bool attested = is_named(session ? 222 : 112, ATTESTATION_TAG, &wanted);
  bool vouched = is_named(350, VOUCHER_TAG, &wanted);
  bool right = session ? two && attested && vouched : one && attested;
  CLAIM((error == 0) == right, "the one form that the escrow needs, and its terms");
  if (error == 0) {
    const u8 *data = bytes + 2;
    CLAIM((const u8 *)proof.attestor == data + (session ? 30 : 16), "the attestor's key where the header says");
    CLAIM((const u8 *)proof.signature == data + (session ? 62 : 48), "its signature where the header says");
    CLAIM((const u8 *)proof.attestation == data + (session ? 222 : 112), "the attestation where the header says");
    if (session) {
      CLAIM((const u8 *)proof.session_key == data + 126, "the session key where the header says");
      CLAIM((const u8 *)proof.voucher == data + 350, "the voucher where the header says");
    }
  } else if (session) {
    bool single = one && is_named(112, ATTESTATION_TAG, &wanted);
    CLAIM((error == ERROR_VOUCHER_MISSING) == (!two && single), "an attestation alone lacks the voucher");
    CLAIM((error == ERROR_WRONG_TERMS) == two, "the right form, other terms");
  } else {
    CLAIM((error == ERROR_WRONG_TERMS) == one, "the right form, other terms");
  }
  return 0;
}
