import type { Address } from "../../core/domain/address.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGITS = 8;

const digitOf = new Float64Array(128);
for (let digit = 0; digit < ALPHABET.length; digit++) digitOf[ALPHABET.charCodeAt(digit)] = digit;

/**
 * The first eight base58 digits of an address as a number below 58^8, which sorts as the text does: base58's
 * digits are in the order of their characters. An index of these six bytes takes a quarter of the
 * room of one of the texts, and a batch touches that many fewer of its pages. Different addresses
 * may share it, so whoever looks one up compares the text besides.
 */
export const addressPrefix = (address: Address): number => {
  let prefix = 0;
  for (let at = 0; at < DIGITS; at++) prefix = prefix * 58 + (digitOf[address.charCodeAt(at)] ?? 0);
  return prefix;
};
