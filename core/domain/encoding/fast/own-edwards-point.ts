import { jacobiSymbol, LIMB_BITS, LIMBS } from "./jacobi-symbol.ts";

/** 15 words of 17 bits make the field's 255 bits, so that overflow returns times 19. */
const WORDS = 15;
const WORD_BITS = 17;
const WORD = 131_072;
const SMALLEST = 1 / WORD;
const LIMB = 67_108_864;
const LIMB_OF = 1 / LIMB;
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
    over = Math.floor(word * SMALLEST);
    words[i] = word - over * WORD;
  }
  over *= 19;
  for (let i = 0; i < WORDS && over !== 0; i++) {
    const word = (words[i] ?? 0) + over;
    over = Math.floor(word * SMALLEST);
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
