import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";
import { decodeBase58, encodeBase58 } from "./own-base58.ts";
import { isEdwardsPoint } from "./own-edwards-point.ts";

/** The fast parts by `@scure/base` and `@noble/curves`, for base58 of at most 2048 bytes. */
const LIBRARY_PARTS = {
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

/** Functions that run for every address. This project has its own fast code for them. */
export type FastParts = {
  /** Base58 (Bitcoin alphabet) of bytes, each leading zero byte as one `1`. */
  readonly encodeBase58: (bytes: Uint8Array) => string;
  /** The bytes of a canonical base58 text of `length` bytes, undefined for any other text. */
  readonly decodeBase58: (text: string, length: number) => Uint8Array | undefined;
  /** Whether 32 bytes encode a point of Ed25519, by the ledger's rule. */
  readonly isEdwardsPoint: (bytes: Uint8Array) => boolean;
};

/**
 * This project's code, and that of `@scure/base` and `@noble/curves`. Tests check that both give the same answers. On
 * 32 bytes this project's code takes a quarter of the library's time for base58 and an eighth for the curve
 * (docs/benchmarks.md).
 */
export const IMPLEMENTATIONS = {
  own: { encodeBase58, decodeBase58, isEdwardsPoint },
  library: LIBRARY_PARTS,
} satisfies Readonly<Record<string, FastParts>>;

/** The implementation that the service runs. */
export const FAST_PARTS: FastParts = IMPLEMENTATIONS.own;
