const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_ALPHABET = `${ALPHABET.slice(0, 62)}-_`;
const VALUE = new Int8Array(128).fill(-1);
for (let i = 0; i < ALPHABET.length; i++) VALUE[ALPHABET.charCodeAt(i)] = i;

const codesOf = (alphabet: string): Uint8Array => new TextEncoder().encode(alphabet);
const CODES = codesOf(ALPHABET);
const URL_CODES = codesOf(URL_ALPHABET);
const EQUALS = 0x3d;
const latin1 = new TextDecoder("latin1");

/** With its padding, as ASCII. */
const encodeWith = (bytes: Uint8Array, codes: Uint8Array): Uint8Array => {
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4);
  for (let i = 0, at = 0; i < bytes.length; i += 3, at += 4) {
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    text[at] = codes[word >> 18] ?? 0;
    text[at + 1] = codes[(word >> 12) & 63] ?? 0;
    text[at + 2] = codes[(word >> 6) & 63] ?? 0;
    text[at + 3] = codes[word & 63] ?? 0;
  }
  const padding = (3 - (bytes.length % 3)) % 3;
  return text.fill(EQUALS, text.length - padding);
};

/** Base64 with padding (RFC 4648, section 4). */
export const encodeBase64 = (bytes: Uint8Array): string => latin1.decode(encodeWith(bytes, CODES));

/** Base64url without padding (RFC 4648, section 5; RFC 7515, section 2). */
export const encodeBase64Url = (bytes: Uint8Array): string => {
  const text = encodeWith(bytes, URL_CODES);
  return latin1.decode(text.subarray(0, Math.ceil((bytes.length * 4) / 3)));
};

/**
 * The bytes of a canonical padded base64 text (RFC 4648, sections 3.5 and 4): no white space, no
 * missing padding, no stray bits behind the last byte. Undefined otherwise.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  const characters = text.length - padding;
  let bits = 0;
  let word = 0;
  let at = 0;
  for (let i = 0; i < characters; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? (VALUE[code] ?? -1) : -1;
    if (value < 0) return undefined;
    word = ((word << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (word >> bits) & 255;
    }
  }
  return (word & ((1 << bits) - 1)) === 0 ? bytes : undefined;
};
