import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";

const { Point } = ed25519;

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
    const key = Point.fromBytes(publicKey, false);
    const nonce = Point.fromBytes(nonceBytes, false);
    if (key.isSmallOrder() || nonce.isSmallOrder()) return false;
    const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(nonceBytes, publicKey, message))));
    return Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k)).equals(nonce);
  } catch {
    return false;
  }
};
