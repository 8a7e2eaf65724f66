import { LIBRARY_PARTS } from "./library-parts.ts";
import { decodeBase58, encodeBase58 } from "./own-base58.ts";
import { isEdwardsPoint } from "./own-edwards-point.ts";

/** What is computed for every address, so often that this project has code of its own for it. */
export type FastParts = {
  /** Base58 (Bitcoin alphabet) of bytes, each leading zero byte as one `1`. */
  readonly encodeBase58: (bytes: Uint8Array) => string;
  /** The bytes that a text is the canonical base58 of, when they are `length`; undefined otherwise. */
  readonly decodeBase58: (text: string, length: number) => Uint8Array | undefined;
  /** Whether 32 bytes encode a point of Ed25519, by the ledger's rule. */
  readonly isEdwardsPoint: (bytes: Uint8Array) => boolean;
};

/**
 * The code of this project and that of `@scure/base` and `@noble/curves`. Both give the same answers, which the tests
 * hold both to. On 32 bytes this project's takes a quarter of the library's time for base58 and an eighth for the curve
 * (docs/benchmarks.md).
 */
export const IMPLEMENTATIONS = {
  own: { encodeBase58, decodeBase58, isEdwardsPoint },
  library: LIBRARY_PARTS,
} satisfies Readonly<Record<string, FastParts>>;

/** The switch: what the service runs. */
export const FAST_PARTS: FastParts = IMPLEMENTATIONS.own;
