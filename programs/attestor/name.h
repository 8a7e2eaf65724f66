#pragma once

#include "../sdk/utf8.h"

/* Whether U+061C, U+200E, U+200F, U+202A to U+202E or U+2066 to U+2069 begins here: they turn the direction of text, so that a name
   can look like another one (Unicode 15, Bidi_Control). `left` is how many bytes there are. */
static inline bool is_direction_control(const u8 *at, u64 left) {
  if (left >= 2 && at[0] == 0xd8) return at[1] == 0x9c;
  if (left < 3 || at[0] != 0xe2) return false;
  if (at[1] == 0x80) return at[2] == 0x8e || at[2] == 0x8f || (at[2] >= 0xaa && at[2] <= 0xae);
  return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

/* Whether `len` bytes are UTF-8 that shows as it stands: no C0 or C1 control character, no U+007F, no direction control. */
static inline bool is_name(const u8 *bytes, u64 len) {
  if (!is_utf8(bytes, len)) return false;
  for (u64 i = 0; i < len; i++) {
    if (bytes[i] < 0x20 || bytes[i] == 0x7f) return false;
    if (bytes[i] == 0xc2 && bytes[i + 1] < 0xa0) return false;
    if (is_direction_control(bytes + i, len - i)) return false;
  }
  return true;
}
