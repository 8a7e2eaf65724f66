import { ed25519 } from "@noble/curves/ed25519.js";

/**
 * Whether a signature (64 bytes) verifies under a public key (32 bytes), strictly: canonical S and point
 * encodings, no small-order key (RFC 8032, section 5.1.7; the ledger's `verify_strict`). Never throws.
 */
export const verifyEd25519 = (
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean => {
  try {
    const point = ed25519.Point.fromBytes(publicKey, false);
    if (point.isSmallOrder()) return false;
    if (ed25519.Point.fromBytes(signature.subarray(0, 32), false).isSmallOrder()) return false;
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
};
