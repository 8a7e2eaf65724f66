import {
  BASE58_ALPHABET,
  BASE58_DIGITS,
  decodeBase58Of32,
  encodeBase58Of32,
} from "./base58-of-32.ts";

/** 58^5: five characters at a time, because 58^5 * 2^16 is exact in a double. */
const LIMB = 656_356_768;
const LIMB_CHARS = 5;

/** Base58 (Bitcoin alphabet) of bytes of any length; each leading zero byte becomes one `1`. */
export const encodeBase58 = (bytes: Uint8Array): string => {
  if (bytes.length === 32) return encodeBase58Of32(bytes);
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  const limbs: Array<number> = [];
  const odd = bytes.length & 1;
  for (let i = -odd; i < bytes.length; i += 2) {
    let carry = ((i < 0 ? 0 : (bytes[i] ?? 0)) << 8) | (bytes[i + 1] ?? 0);
    for (let j = 0; j < limbs.length; j++) {
      const value = (limbs[j] ?? 0) * 65_536 + carry;
      carry = Math.floor(value / LIMB);
      limbs[j] = value - carry * LIMB;
    }
    if (carry > 0) limbs.push(carry);
  }
  let digits = "";
  for (const limb of limbs) {
    let rest = limb;
    let chunk = "";
    for (let k = 0; k < LIMB_CHARS; k++) {
      chunk = BASE58_ALPHABET.charAt(rest % 58) + chunk;
      rest = Math.floor(rest / 58);
    }
    digits = chunk + digits;
  }
  let start = 0;
  while (digits.charCodeAt(start) === 49) start++;
  return "1".repeat(zeros) + digits.slice(start);
};

/** The bytes of a base58 text; undefined unless the text is the canonical encoding of exactly `length` bytes. */
export const decodeBase58 = (text: string, length: number): Uint8Array | undefined => {
  if (length === 32) return decodeBase58Of32(text);
  // log(256)/log(58) is below 1.3658: a longer text cannot be canonical, and refusing it first bounds the work.
  if (text.length < length || text.length > Math.ceil(length * 1.3658)) return undefined;
  const words = new Float64Array((length + 1) >> 1);
  const first = text.length % LIMB_CHARS || LIMB_CHARS;
  for (let end = first, start = 0; start < text.length; start = end, end += LIMB_CHARS) {
    let carry = 0;
    let scale = 1;
    for (let i = start; i < end; i++) {
      const code = text.charCodeAt(i);
      const digit = code < 128 ? (BASE58_DIGITS[code] ?? -1) : -1;
      if (digit < 0) return undefined;
      carry = carry * 58 + digit;
      scale *= 58;
    }
    for (let j = words.length - 1; j >= 0; j--) {
      const value = (words[j] ?? 0) * scale + carry;
      carry = Math.floor(value / 65_536);
      words[j] = value - carry * 65_536;
    }
    if (carry > 0) return undefined;
  }
  const bytes = new Uint8Array(length);
  const odd = length & 1;
  for (let j = 0; j < words.length; j++) {
    const word = words[j] ?? 0;
    const at = 2 * j - odd;
    if (at >= 0) bytes[at] = word >>> 8;
    else if (word > 255) return undefined;
    bytes[at + 1] = word & 255;
  }
  let zeros = 0;
  while (zeros < length && bytes[zeros] === 0) zeros++;
  let ones = 0;
  while (text.charCodeAt(ones) === 49) ones++;
  return zeros === ones ? bytes : undefined;
};
