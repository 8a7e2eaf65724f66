/** Limbs have 26 bits: a limb times an entry of a batch's matrix, twice, is below 2^53. */
export const LIMB_BITS = 26;
/** A literal: the runtime does not fold `**`. */
const LIMB = 67_108_864;
const LIMB_OF = 1 / LIMB;
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
    borrow = Math.floor(limb * LIMB_OF);
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
      carryA = Math.floor(nextA * LIMB_OF);
      carryB = Math.floor(nextB * LIMB_OF);
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

/** 15 words of 17 bits make the field's 255 bits, so that overflow returns times 19. */
const WORDS = 15;
const WORD_BITS = 17;
const WORD = 131_072;
const WORD_OF = 1 / WORD;
const POWERS_OF_TWO = Float64Array.from({ length: LIMB_BITS }, (_, power) => 2 ** power);

/** 2^255 - 19 (RFC 7748, section 4.1) in limbs of `jacobiSymbol`. */
const P = Float64Array.from({ length: LIMBS }, (_, i) =>
  Number(((2n ** 255n - 19n) >> BigInt(i * LIMB_BITS)) & BigInt(2 ** LIMB_BITS - 1)),
);

/** 2^19 p, which keeps every word positive, and the constant of the polynomial. */
const BIAS = Float64Array.from({ length: WORDS }, (_, i) =>
  i === 0 ? 524_288 * (WORD - 19) + 121_666 : 524_288 * (WORD - 1),
);

/** Buffers that all calls share. Calls never overlap: they are synchronous. */
const y2 = new Float64Array(WORDS);
const y4 = new Float64Array(WORDS);
const sums = new Float64Array(2 * WORDS);
const limbs = new Float64Array(LIMBS);

/** Reduces words of at most 2^50: each below 2^17, and the first slightly above. */
const carry = (words: Float64Array): void => {
  let over = 0;
  for (let i = 0; i < WORDS; i++) {
    const word = (words[i] ?? 0) + over;
    over = Math.floor(word * WORD_OF);
    words[i] = word - over * WORD;
  }
  over *= 19;
  for (let i = 0; i < WORDS && over !== 0; i++) {
    const word = (words[i] ?? 0) + over;
    over = Math.floor(word * WORD_OF);
    words[i] = word - over * WORD;
  }
  words[0] = (words[0] ?? 0) + over * 19;
};

/** Sets `out` to the square of `value`. A word reaches at most 15 * 19 * 2^35, below 2^44. */
const square = (out: Float64Array, value: Float64Array): void => {
  sums.fill(0);
  for (let i = 0; i < WORDS; i++) {
    const word = value[i] ?? 0;
    sums[2 * i] = (sums[2 * i] ?? 0) + word * word;
    for (let j = i + 1; j < WORDS; j++) {
      sums[i + j] = (sums[i + j] ?? 0) + 2 * word * (value[j] ?? 0);
    }
  }
  for (let i = 0; i < WORDS; i++) out[i] = (sums[i] ?? 0) + 19 * (sums[i + WORDS] ?? 0);
  carry(out);
};

const readY = (words: Float64Array, bytes: Uint8Array): void => {
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 0; i < 32; i++) {
    bits |= (i === 31 ? (bytes[i] ?? 0) & 127 : (bytes[i] ?? 0)) << held;
    held += 8;
    if (held < WORD_BITS) continue;
    words[at++] = bits & (WORD - 1);
    bits >>>= WORD_BITS;
    held -= WORD_BITS;
  }
};

const toLimbs = (words: Float64Array): void => {
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 0; i < WORDS; i++) {
    bits += (words[i] ?? 0) * (POWERS_OF_TWO[held] ?? 0);
    held += WORD_BITS;
    if (held < LIMB_BITS) continue;
    const over = Math.floor(bits * LIMB_OF);
    limbs[at++] = bits - over * LIMB;
    bits = over;
    held -= LIMB_BITS;
  }
  limbs[at] = bits;
};

/**
 * Whether 32 bytes encode a point of Ed25519 by the ledger's rule (curve25519-dalek's decompression):
 * the sign bit is ignored, y is reduced mod p, and x = 0 is accepted with either sign.
 *
 * x^2 = (y^2 - 1) / (d y^2 + 1). Since -1 and 121666 are squares mod p and d = -121665/121666, that is
 * a square exactly when 121665 y^4 - 243331 y^2 + 121666 is one, or 0: no inversion is needed.
 */
export const isEdwardsPoint = (bytes: Uint8Array): boolean => {
  readY(y4, bytes);
  square(y2, y4);
  square(y4, y2);
  for (let i = 0; i < WORDS; i++) {
    y4[i] = (BIAS[i] ?? 0) + 121_665 * (y4[i] ?? 0) - 243_331 * (y2[i] ?? 0);
  }
  carry(y4);
  toLimbs(y4);
  return jacobiSymbol(limbs, P) !== -1;
};
