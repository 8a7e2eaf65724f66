import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, bytesToNumberLE } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { RecentlyUsed } from "../../domain/recently-used.ts";

const { Point } = ed25519;
type KeyPoint = { readonly point: ReturnType<typeof Point.fromBytes>; uses: number };

/**
 * Points of recently used public keys. A frequent key gets a table of its multiples: the
 * table takes the time of four verifications and 135 KB, and halves the time of each that follows.
 */
const keyPoints = new RecentlyUsed<string, KeyPoint>(16);
const USES_BEFORE_TABLE = 8;
const TABLE_WINDOW_BITS = 4;

/** The point of a key, undefined for one of small order. @throws RangeError for an encoding of no point. */
const keyPointOf = (publicKey: Uint8Array): KeyPoint["point"] | undefined => {
  const name = bytesToHex(publicKey);
  const known = keyPoints.get(name);
  if (known === undefined) {
    const point = Point.fromBytes(publicKey, false);
    if (point.isSmallOrder()) return undefined;
    keyPoints.set(name, { point, uses: 1 });
    return point;
  }
  known.uses += 1;
  if (known.uses === USES_BEFORE_TABLE) known.point.precompute(TABLE_WINDOW_BITS);
  return known.point;
};

/**
 * Whether a signature (64 bytes) verifies under a public key (32 bytes), strictly: canonical S and point
 * encodings, no small-order key or nonce, and SB = R + kA itself rather than eight times both sides
 * (RFC 8032, section 5.1.7; curve25519-dalek's `verify_strict`, which is the ledger's). noble's own
 * `verify` multiplies by eight, so it takes signatures of mixed-order keys that the ledger refuses.
 * Never throws.
 */
export const verifyEd25519 = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean => {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const nonceBytes = signature.subarray(0, 32);
  const s = bytesToNumberLE(signature.subarray(32));
  if (s >= Point.Fn.ORDER) return false;
  try {
    const key = keyPointOf(publicKey);
    const nonce = Point.fromBytes(nonceBytes, false);
    if (key === undefined || nonce.isSmallOrder()) return false;
    const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(nonceBytes, publicKey, message))));
    return Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k)).equals(nonce);
  } catch {
    return false;
  }
};

/**
 * Whether a ledger can accept any signature under a public key (32 bytes): it is a point, and not of small order. An
 * encoding that is not canonical is read as curve25519-dalek reads it. Never throws.
 */
export const canVerifyUnder = (publicKey: Uint8Array): boolean => {
  try {
    return !Point.fromBytes(publicKey, true).isSmallOrder();
  } catch {
    return false;
  }
};

/**
 * Whether a public key (32 bytes) is the one canonical encoding of its point, and not of small order: under such a key
 * all verifiers
 * agree. Session keys are refused otherwise. Never throws.
 */
export const isCanonicalKey = (publicKey: Uint8Array): boolean => {
  try {
    return !Point.fromBytes(publicKey, false).isSmallOrder();
  } catch {
    return false;
  }
};
