import { LIBRARY_PARTS } from "./library-parts.ts";
import { decodeBase58, encodeBase58 } from "./own-base58.ts";
import { isEdwardsPoint } from "./own-edwards-point.ts";

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
