import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";

declare const brand: unique symbol;

/** 32 bytes as 64 lower-case hex digits. */
export type Hash32 = string & { readonly [brand]: "Hash32" };

/** The text as a lower-case hash; undefined unless it is exactly 64 hex digits of either case. */
export const parseHash32 = (text: string): Hash32 | undefined =>
  /^[0-9a-fA-F]{64}$/.test(text) ? (text.toLowerCase() as Hash32) : undefined;

/** The hash of exactly 32 bytes. @throws Error for another length. */
export const hash32FromBytes = (bytes: Uint8Array): Hash32 => {
  if (bytes.length !== 32) throw new Error(`a hash has 32 bytes, not ${bytes.length}`);
  return bytesToHex(bytes) as Hash32;
};

/** The 32 bytes of a hash. */
export const hash32ToBytes = (hash: Hash32): Uint8Array => hexToBytes(hash);
