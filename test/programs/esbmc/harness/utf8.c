#include "prelude.h"

#include "sdk/utf8.h"

/* is_utf8 says yes exactly to the sequences of code points from U+0001 on that Unicode has, and reads nothing else. A code point
   takes at most four bytes and the next one begins anew, so five bytes show every case, the last one cut short included. */
#define MOST 5

/* The definition turned the other way round: decode, then ask whether the code point is one and took its shortest form. */
static bool is_text(const u8 *bytes, u64 len) {
  for (u64 i = 0; i < len;) {
    u8 lead = bytes[i];
    u64 used = lead < 0x80 ? 1 : (lead & 0xe0) == 0xc0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : (lead & 0xf8) == 0xf0 ? 4 : 0;
    if (used == 0 || used > len - i) return false;
    u32 point = used == 1 ? lead : lead & (0xff >> (used + 1));
    for (u64 k = 1; k < used; k++) {
      if ((bytes[i + k] & 0xc0) != 0x80) return false;
      point = point << 6 | (bytes[i + k] & 0x3f);
    }
    u64 needed = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) || used != needed) return false;
    i += used;
  }
  return true;
}

int main(void) {
  u8 bytes[MOST];
  fill(bytes, MOST);
  u64 len = nondet_u64();
  ASSUME(len <= MOST);
  /* At the end of the array, so that one byte more is beyond it. */
  const u8 *text = bytes + (MOST - len);
  CLAIM(is_utf8(text, len) == is_text(text, len), "is_utf8 is Unicode's definition without U+0000");
  return 0;
}
