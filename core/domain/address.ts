import { decodeBase58, encodeBase58 } from "./encoding/base58.ts";

declare const brand: unique symbol;

/**
 * A 32-byte ledger address as canonical base58 text, 32 to 44 characters. It carries the brands of kit's own `Address`
 * (`@solana/nominal-types`), so kit takes it without a cast. An address from kit must be parsed first.
 */
export type Address = string & {
  readonly [brand]: "Address";
  readonly "__brand:@solana/kit": "Address";
  readonly "__stringEncoding:@solana/kit": "base58";
};

/** The 32 bytes of a canonical base58 address, undefined for any other text. */
const bytesOf = (text: string): Uint8Array | undefined => decodeBase58(text, 32);

/** The text as an address, or undefined when it is not canonical base58 of 32 bytes. */
export const parseAddress = (text: string): Address | undefined =>
  bytesOf(text) === undefined ? undefined : (text as Address);

/** The address of a constant. @throws Error for a text that is not canonical base58 of 32 bytes. */
export const address = (text: string): Address => {
  const parsed = parseAddress(text);
  if (parsed === undefined) throw new Error("not a base58 address of 32 bytes");
  return parsed;
};

/** The address of exactly 32 bytes. @throws Error for another length. */
export const addressFromBytes = (bytes: Uint8Array): Address => {
  if (bytes.length !== 32) throw new Error(`an address has 32 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Address;
};

/** The 32 bytes of an address. */
export const addressToBytes = (value: Address): Uint8Array => {
  const bytes = bytesOf(value);
  if (bytes === undefined) throw new Error("an Address must be made by parseAddress");
  return bytes;
};

/** The all-zero address, which is also the System program's id. */
export const ZERO_ADDRESS = address("11111111111111111111111111111111");

/** Buckets of one address each, about 100 bytes with its text. */
const BUCKETS = 16_384;
const keptBytes = new Uint8Array(BUCKETS * 32);
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
  while (i < 32 && keptBytes[from + i] === bytes[at + i]) i++;
  if (i === 32 && text !== undefined) return text;
  const own = bytes.slice(at, at + 32);
  const encoded = encodeBase58(own) as Address;
  keptBytes.set(own, from);
  texts[bucket] = encoded;
  return encoded;
};
