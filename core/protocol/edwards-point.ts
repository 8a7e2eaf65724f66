/** 2^255 - 19, the field of Curve25519 (RFC 7748, section 4.1). */
const P = 2n ** 255n - 19n;

const littleEndian = (bytes: Uint8Array): bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 32);
  return (
    view.getBigUint64(0, true) |
    (view.getBigUint64(8, true) << 64n) |
    (view.getBigUint64(16, true) << 128n) |
    (view.getBigUint64(24, true) << 192n)
  );
};

/** The Jacobi symbol (a/n) for odd n > 0 (Cohen, "A Course in Computational Algebraic Number Theory", 1.4.10). */
const jacobi = (numerator: bigint, modulus: bigint): -1 | 0 | 1 => {
  let a = numerator;
  let n = modulus;
  let negative = false;
  while (a !== 0n) {
    let low = BigInt.asUintN(8, a);
    while (low === 0n) {
      a >>= 8n;
      low = BigInt.asUintN(8, a);
    }
    const twos = 31 - Math.clz32(Number(low) & -Number(low));
    a >>= BigInt(twos);
    const nMod8 = Number(n & 7n);
    if ((twos & 1) === 1 && (nMod8 === 3 || nMod8 === 5)) negative = !negative;
    if ((nMod8 & 3) === 3 && (a & 3n) === 3n) negative = !negative;
    [a, n] = [n % a, a];
  }
  if (n !== 1n) return 0;
  return negative ? -1 : 1;
};

/**
 * Whether 32 bytes encode a point of Ed25519 by the ledger's rule (curve25519-dalek's decompression):
 * the sign bit is ignored, y is reduced mod p, and x = 0 is accepted with either sign.
 *
 * x^2 = (y^2 - 1) / (d y^2 + 1). Since -1 and 121666 are squares mod p and d = -121665/121666, that is
 * a square exactly when 121665 y^4 - 243331 y^2 + 121666 is one, or 0: no inversion is needed.
 */
export const isEdwardsPoint = (bytes: Uint8Array): boolean => {
  const y = BigInt.asUintN(255, littleEndian(bytes));
  const y2 = (y * y) % P;
  const value = ((121_665n * y2 - 243_331n) * y2 + 121_666n) % P;
  return jacobi(value < 0n ? value + P : value, P) !== -1;
};
