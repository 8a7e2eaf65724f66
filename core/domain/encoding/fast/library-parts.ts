import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";

/** The fast parts by `@scure/base` and `@noble/curves`, for base58 of at most 2048 bytes. */
export const LIBRARY_PARTS = {
  encodeBase58: (bytes: Uint8Array): string => base58.encode(bytes),
  decodeBase58: (text: string, length: number): Uint8Array | undefined => {
    // log(256)/log(58) is below 1.3658: a longer text cannot be canonical, and refusing it first bounds the work.
    if (text.length > Math.ceil(length * 1.3658)) return undefined;
    try {
      const bytes = base58.decode(text);
      return bytes.length === length ? bytes : undefined;
    } catch {
      return undefined;
    }
  },
  // The ledger's rule is that of ZIP 215.
  isEdwardsPoint: (bytes: Uint8Array): boolean => {
    try {
      ed25519.Point.fromBytes(bytes, true);
      return true;
    } catch {
      return false;
    }
  },
};
