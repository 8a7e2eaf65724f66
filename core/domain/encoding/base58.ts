import { FAST_PARTS } from "./fast/fast-parts.ts";

/** Base58 (Bitcoin alphabet) of bytes of any length; each leading zero byte becomes one `1`. */
export const { encodeBase58 } = FAST_PARTS;

/** The bytes of a base58 text; undefined unless the text is the canonical encoding of exactly `length` bytes. */
export const { decodeBase58 } = FAST_PARTS;
