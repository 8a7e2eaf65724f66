/** The Bitcoin alphabet: no 0, O, I or l. */
export const BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** The digit of each ASCII code, -1 for a code outside the alphabet. */
export const BASE58_DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  BASE58_ALPHABET.indexOf(String.fromCharCode(code)),
);
