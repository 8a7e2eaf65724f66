#pragma once

#include "types.h"

/* Whether `len` bytes are well-formed UTF-8 (Unicode 15, table 3-7): no overlong form, no surrogate, at most U+10FFFF.
   U+0000 is refused as well: behind it a zero-padded text would be over. */
static inline bool is_utf8(const u8 *bytes, u64 len) {
  u64 i = 0;
  while (i < len) {
    u8 lead = bytes[i++];
    u64 more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead == 0 || (lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || more > len - i) return false;
    for (u64 k = 0; k < more; k++) {
      u8 next = bytes[i + k];
      if (next < 0x80 || next > 0xbf) return false;
    }
    if ((lead == 0xe0 && bytes[i] < 0xa0) || (lead == 0xed && bytes[i] > 0x9f) || (lead == 0xf0 && bytes[i] < 0x90) ||
        (lead == 0xf4 && bytes[i] > 0x8f))
      return false;
    i += more;
  }
  return true;
}
