#include "prelude.h"

#define PROGRAM_ATTESTOR
#include "generated/attestor.h"
#include "generated/custody.h"

#include "attestor/attestation.h"

/* match_attestation says yes exactly to an Ed25519 instruction that checks one signature, of this attestor, over these very bytes,
   with all of it in its own data; it gives the signature of that instruction, and reads nothing beyond the data. The parts
   may overlap, so that every case fits in fewer bytes than they take one after another. */
#define MOST 96

/* Equal bytes are equal at every place, and others differ at some place: for a place that may be any, that is all to know. */
static u64 any_place, place_of_difference;
u64 sol_memcmp_(const void *a, const void *b, u64 len, i32 *result) {
  const u8 *x = a, *y = b;
  CLAIM(len > 0 && len <= sizeof(Message), "the message is compared");
  /* Touched, so that a message that reaches beyond the data is an error. */
  u8 last = x[len - 1];
  (void)last;
  if (nondet_u8() != 0) {
    ASSUME(any_place >= len || x[any_place] == y[any_place]);
    *result = 0;
  } else {
    place_of_difference = nondet_u64();
    ASSUME(place_of_difference < len && x[place_of_difference] != y[place_of_difference]);
    *result = 1;
  }
  return 0;
}

static u64 u16_at(const u8 *bytes, u64 at) { return (u64)bytes[at] | (u64)bytes[at + 1] << 8; }

int main(void) {
  u8 bytes[MOST];
  fill(bytes, MOST);
  u64 len = nondet_u64();
  ASSUME(len <= MOST);
  /* At the end of the array, so that one byte more is beyond it. */
  const u8 *data = bytes + (MOST - len);
  const Pubkey attestor = nondet_bytes32();
  const Message message = {nondet_bytes32(), nondet_bytes32(), nondet_i64(), nondet_u64()};
  const TransactionInstruction instruction = {NULL, data, len};
  const Bytes64 *signature = NULL;
  any_place = nondet_u64();

  u64 error = match_attestation(&instruction, &attestor, &message, &signature);

  if (len < 16) {
    CLAIM(error == ERROR_ATTESTATION_MALFORMED, "there is a header");
    return 0;
  }
  u64 signature_at = u16_at(data, 2), key_at = u16_at(data, 6), message_at = u16_at(data, 10), size = u16_at(data, 12);
  bool well_formed = data[0] == 1 && u16_at(data, 4) == 0xffff && u16_at(data, 8) == 0xffff &&
                     u16_at(data, 14) == 0xffff && signature_at + 64 <= len && key_at + 32 <= len &&
                     message_at + size <= len;
  CLAIM((error == ERROR_ATTESTATION_MALFORMED) == !well_formed, "one signature, all of it in its own data");
  if (!well_formed) return 0;
  bool same_key = true;
  for (u64 i = 0; i < 4; i++) same_key &= read_u64(data + key_at + 8 * i) == attestor.word[i];
  CLAIM((error == ERROR_WRONG_ATTESTOR) == !same_key, "the key is the attestor's");
  if (!same_key) return 0;
  bool right_size = size == (message.partial_amount == 0 ? 72 : 80);
  if (error == 0) {
    CLAIM(right_size, "the message has the length of its kind");
    CLAIM(any_place >= size || data[message_at + any_place] == ((const u8 *)&message)[any_place],
          "the message is the one wanted, at every place");
    CLAIM((const u8 *)signature == data + signature_at, "the signature is the one that was checked");
  } else {
    CLAIM(error == ERROR_WRONG_MESSAGE, "nothing else is refused");
    CLAIM(!right_size || data[message_at + place_of_difference] != ((const u8 *)&message)[place_of_difference],
          "a message that is refused differs");
  }
  return 0;
}
