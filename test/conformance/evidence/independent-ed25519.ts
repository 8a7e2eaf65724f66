import { createPublicKey, verify } from "node:crypto";

const P = 2n ** 255n - 19n;
const L = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The y coordinates of the eight points whose order divides 8 (RFC 8032's curve). */
const SMALL_Y = new Set([
  0n,
  1n,
  P - 1n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
]);

const little = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`);

/** Whether bytes are the canonical encoding of a point with an order above 8. */
const isSoundPoint = (bytes: Uint8Array): boolean => {
  const y = little(bytes) & (2n ** 255n - 1n);
  return y < P && !SMALL_Y.has(y);
};

/** Strict Ed25519 on top of node:crypto's check: S is below L, and points are canonical and not of small order. */
export const strictlySigned = (
  signature: Uint8Array,
  message: Uint8Array,
  key: Uint8Array,
): boolean => {
  if (signature.length !== 64 || key.length !== 32) return false;
  if (little(signature.subarray(32)) >= L) return false;
  if (!isSoundPoint(key) || !isSoundPoint(signature.subarray(0, 32))) return false;
  const x = Buffer.from(key).toString("base64url");
  try {
    const imported = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, message, imported, signature);
  } catch {
    return false;
  }
};

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n;
  for (let [square, rest] = [base % P, exponent]; rest > 0n; rest >>= 1n) {
    if (rest % 2n === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
};

/** Whether 32 bytes are a point of the curve, with y taken modulo p, that is not of small order. */
export const canVerify = (key: Uint8Array): boolean => {
  const y = (little(key) & (2n ** 255n - 1n)) % P;
  const d = (P - 121_665n) * power(121_666n, P - 2n);
  const square = (y * y + P - 1n) * power(d * y * y + 1n, P - 2n);
  return !SMALL_Y.has(y) && power(square, (P - 1n) / 2n) === 1n;
};
