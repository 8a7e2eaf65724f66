/** Limbs have 26 bits: a limb times an entry of a batch's matrix, twice, is below 2^53. */
export const LIMB_BITS = 26;
/** A literal: the runtime does not fold `**`. */
const LIMB = 67_108_864;
const SMALLEST = 1 / LIMB;
/** Limbs for 260 bits. */
export const LIMBS = 10;

/** Buffers that all calls share. Calls never overlap: they are synchronous. */
const a = new Float64Array(LIMBS);
const b = new Float64Array(LIMBS);

/** Leading bits of the larger number that a batch looks at. A difference of two such numbers fits 32 bits. */
const LEADING_BITS = 30;
/**
 * Below this, the sign of a difference is not certain. The cut-off bits are worth less than 1, each halving cuts off
 * less than 1 more, and a subtraction adds both errors. After 26 steps the error is below 108.
 */
const UNSURE = 128;
const HALVES = Float64Array.from({ length: 3 * LIMB_BITS }, (_, shift) => 2 ** -shift);

/** Replaces a by -a. */
const negate = (): void => {
  let borrow = 0;
  for (let i = 0; i < LIMBS; i++) {
    const limb = borrow - (a[i] ?? 0);
    borrow = Math.floor(limb * SMALLEST);
    a[i] = limb - borrow * LIMB;
  }
};

/**
 * Binary gcd in batches of 26 halvings (the idea of Lehmer's gcd). The lowest 32 bits of both numbers are exact and
 * decide each step. Their leading 30 bits tell which number is larger. The steps of a batch gather in a matrix of small
 * integers, which is then applied to all limbs. The rules for the sign: (2/b) = -1 for b = 3 or 5 mod 8, (a/b) = -(b/a)
 * when both are 3 mod 4, (-1/b) = -1 for b = 3 mod 4 (Cohen, "A Course in Computational Algebraic Number Theory",
 * 1.4.2).
 */
export const jacobiSymbol = (
  numerator: ArrayLike<number>,
  modulus: ArrayLike<number>,
): -1 | 0 | 1 => {
  for (let i = 0; i < LIMBS; i++) {
    a[i] = numerator[i] ?? 0;
    b[i] = modulus[i] ?? 0;
  }
  let n = LIMBS;
  let sign = 0;
  for (;;) {
    while (n > 3 && a[n - 1] === 0 && b[n - 1] === 0) n--;
    let x = (a[0] ?? 0) | ((a[1] ?? 0) << LIMB_BITS);
    let y = (b[0] ?? 0) | ((b[1] ?? 0) << LIMB_BITS);
    const a2 = a[n - 1] ?? 0;
    const a1 = a[n - 2] ?? 0;
    const b2 = b[n - 1] ?? 0;
    const b1 = b[n - 2] ?? 0;
    const longest = (a2 | b2) > 0 ? 84 - Math.clz32(a2 | b2) : 58 - Math.clz32(a1 | b1);
    const cut = Math.max(0, longest - LEADING_BITS);
    const scale = HALVES[cut] ?? 0;
    let u = Math.floor(((a2 * LIMB + a1) * LIMB + (a[n - 3] ?? 0)) * scale);
    let v = Math.floor(((b2 * LIMB + b1) * LIMB + (b[n - 3] ?? 0)) * scale);
    const unsure = cut === 0 ? 0 : UNSURE;
    let xa = 1;
    let xb = 0;
    let ya = 0;
    let yb = 1;
    let left = LIMB_BITS;
    for (;;) {
      const stop = x | (1 << left);
      const zeros = 31 - Math.clz32(stop & -stop);
      x >>>= zeros;
      u >>= zeros;
      ya <<= zeros;
      yb <<= zeros;
      left -= zeros;
      sign ^= zeros & ((y >> 1) ^ (y >> 2));
      if (left === 0) break;
      // Swaps by a mask. A branch would cost more, because the larger of the two cannot be predicted.
      const difference = (u - v) | 0;
      const swap = difference >> 31;
      sign ^= ((x & y) >> 1) & swap;
      let mixed = (x ^ y) & swap;
      x ^= mixed;
      y ^= mixed;
      mixed = (xa ^ ya) & swap;
      xa ^= mixed;
      ya ^= mixed;
      mixed = (xb ^ yb) & swap;
      xb ^= mixed;
      yb ^= mixed;
      v = (v + (difference & swap)) | 0;
      u = ((difference ^ swap) - swap) | 0;
      x = (x - y) | 0;
      xa = (xa - ya) | 0;
      xb = (xb - yb) | 0;
      if (u < unsure) {
        // The sign is not certain here. The exact numbers decide, and a negative difference is negated.
        xa <<= left;
        xb <<= left;
        ya <<= left;
        yb <<= left;
        break;
      }
    }
    let carryA = 0;
    let carryB = 0;
    for (let i = 0; i < n; i++) {
      const limbA = a[i] ?? 0;
      const limbB = b[i] ?? 0;
      const nextA = xa * limbA + xb * limbB + carryA;
      const nextB = ya * limbA + yb * limbB + carryB;
      carryA = Math.floor(nextA * SMALLEST);
      carryB = Math.floor(nextB * SMALLEST);
      if (i === 0) continue;
      a[i - 1] = nextA - carryA * LIMB;
      b[i - 1] = nextB - carryB * LIMB;
    }
    a[n - 1] = carryA;
    b[n - 1] = carryB;
    if (carryA < 0) {
      for (let i = n; i < LIMBS; i++) a[i] = 0;
      negate();
      sign ^= (b[0] ?? 0) >> 1;
    }
    let isZero = true;
    for (let i = 0; i < n && isZero; i++) isZero = a[i] === 0;
    if (!isZero) continue;
    for (let i = 1; i < n; i++) if (b[i] !== 0) return 0;
    if (b[0] !== 1) return 0;
    return (sign & 1) === 1 ? -1 : 1;
  }
};
