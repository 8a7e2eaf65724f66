import type { Address } from "./address.ts";
import { encodeBase58 } from "./encoding/base58.ts";

/** Buckets of one address each, about 100 bytes with its text. */
const BUCKETS = 16_384;
const known = new Uint8Array(BUCKETS * 32);
const texts: Array<Address | undefined> = Array.from({ length: BUCKETS }, () => undefined);

/**
 * The address whose 32 bytes begin at `at`. While an address is kept, each call returns the same string. The accounts
 * of an index name few mints, merchants and wallets, and comparing bytes is much cheaper than encoding them.
 */
export const recentAddress = (bytes: Uint8Array, at: number): Address => {
  // Public keys and derived addresses are evenly spread.
  const bucket = ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)) & (BUCKETS - 1);
  const from = bucket * 32;
  const text = texts[bucket];
  let i = 0;
  while (i < 32 && known[from + i] === bytes[at + i]) i++;
  if (i === 32 && text !== undefined) return text;
  const own = bytes.slice(at, at + 32);
  const encoded = encodeBase58(own) as Address;
  known.set(own, from);
  texts[bucket] = encoded;
  return encoded;
};
