/** The Bitcoin alphabet: no 0, O, I or l. */
export const BASE58_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** The digit of each ASCII code, -1 for a code outside the alphabet. */
export const BASE58_DIGITS = Int8Array.from({ length: 128 }, (_, code) =>
  BASE58_ALPHABET.indexOf(String.fromCharCode(code)),
);

/** 13 limbs of 20 bits (16 in the last), least significant first. 9 groups of 5 characters. */
const LIMBS = 13;
const LIMB = 1_048_576;
const GROUPS = 9;
const GROUP_CHARS = 5;
const CHARS = GROUPS * GROUP_CHARS;
/** 58^5 as a literal: the runtime does not fold `**`, and multiplying by a literal takes a third of the time. */
const GROUP = 656_356_768;
const GROUP_OF = 1 / GROUP;

/** How much limb i adds to group j, stored at 13 j + i: digit j of 2^(20 i) in base 58^5. */
const SHARES = Float64Array.from({ length: GROUPS * LIMBS }, (_, at) => {
  const limb = BigInt(LIMB) ** BigInt(at % LIMBS);
  return Number((limb / BigInt(GROUP) ** BigInt(Math.floor(at / LIMBS))) % BigInt(GROUP));
});
/** The first limb with a share in each group. */
const FIRST_LIMB = Uint8Array.from({ length: GROUPS }, (_, j) =>
  SHARES.subarray(j * LIMBS).findIndex((share) => share !== 0),
);

const CODES = Uint8Array.from(BASE58_ALPHABET, (character) => character.charCodeAt(0));
const ONE = CODES[0] ?? 0;

/** Characters are written two at a time. */
const PAIR = 58 * 58;
const PAIR_OF = 1 / PAIR;
const FIRST_OF_PAIR = Uint8Array.from({ length: PAIR }, (_, i) => CODES[(i / 58) | 0] ?? 0);
const SECOND_OF_PAIR = Uint8Array.from({ length: PAIR }, (_, i) => CODES[i % 58] ?? 0);

/** Buffers that all calls share. Calls never overlap: they are synchronous. */
const limbs = new Float64Array(LIMBS);
const chars = new Uint8Array(CHARS);
/** Views of the characters from each index on, made once: making a view costs as much as making the text. */
const TAILS = Array.from({ length: CHARS }, (_, from) => chars.subarray(from));

const latin1 = new TextDecoder("latin1");

// The functions below are one short loop each: the runtime compiles one long function five times as slow.

/** Reads five bytes as two limbs. */
const readLimbs = (bytes: Uint8Array): void => {
  for (let i = 0, at = 31; i < LIMBS - 1; i += 2, at -= 5) {
    const middle = bytes[at - 2] ?? 0;
    limbs[i] = (bytes[at] ?? 0) | ((bytes[at - 1] ?? 0) << 8) | ((middle & 15) << 16);
    limbs[i + 1] = (middle >> 4) | ((bytes[at - 3] ?? 0) << 4) | ((bytes[at - 4] ?? 0) << 12);
  }
  limbs[LIMBS - 1] = (bytes[1] ?? 0) | ((bytes[0] ?? 0) << 8);
};

const writeGroup = (at: number, group: number): void => {
  const upper = Math.floor((group + 0.5) * PAIR_OF) | 0;
  const first = Math.floor((upper + 0.5) * PAIR_OF) | 0;
  const middle = (upper - first * PAIR) | 0;
  const last = (group - upper * PAIR) | 0;
  chars[at] = CODES[first] ?? 0;
  chars[at + 1] = FIRST_OF_PAIR[middle] ?? 0;
  chars[at + 2] = SECOND_OF_PAIR[middle] ?? 0;
  chars[at + 3] = FIRST_OF_PAIR[last] ?? 0;
  chars[at + 4] = SECOND_OF_PAIR[last] ?? 0;
};

/**
 * A sum is below 2^51.4. Multiplying by the reciprocal is wrong by less than 2^-30.4. Adding one half first keeps the
 * quotient at least 2^-30.3 away from whole numbers.
 */
const writeGroups = (): void => {
  let carry = 0;
  for (let j = 0; j < GROUPS; j++) {
    let sum = carry;
    for (let i = FIRST_LIMB[j] ?? 0; i < LIMBS; i++)
      sum += (limbs[i] ?? 0) * (SHARES[j * LIMBS + i] ?? 0);
    carry = Math.floor((sum + 0.5) * GROUP_OF);
    writeGroup(CHARS - GROUP_CHARS - j * GROUP_CHARS, sum - carry * GROUP);
  }
};

/** Base58 of exactly 32 bytes. Each group of characters is the sum of the limbs' shares. */
export const encodeBase58Of32 = (bytes: Uint8Array): string => {
  readLimbs(bytes);
  writeGroups();
  let start = 0;
  while (start < CHARS && chars[start] === ONE) start++;
  for (let i = 0; i < 32 && bytes[i] === 0; i++) start--;
  return latin1.decode(TAILS[start]);
};

const LIMB_OF = 1 / LIMB;
const TWO_LIMBS_OF = LIMB_OF / LIMB;
const LAST_LIMB = 65_535;

/** Buffers that all calls share. Calls never overlap: they are synchronous. */
const groups = new Float64Array(GROUPS);
const sums = new Float64Array(LIMBS - 1);
/** Each sum in three parts: its lowest 20 bits, the next 20 bits, and the rest, each at its own limb. */
const low = new Int32Array(LIMBS + 1);
const middle = new Int32Array(LIMBS + 1);
const high = new Int32Array(LIMBS + 1);

// The functions below are short because the runtime compiles one long function far worse.

/** Reads the text into groups; false for a character outside the alphabet. */
const readGroups = (text: string): boolean => {
  let codes = 0;
  let digits = 0;
  for (let j = 0, end = text.length; j < GROUPS; j++, end -= GROUP_CHARS) {
    let group = 0;
    if (end < GROUP_CHARS) {
      for (let i = 0; i < end; i++) {
        const code = text.charCodeAt(i);
        const digit = BASE58_DIGITS[code & 127] ?? 0;
        codes |= code;
        digits |= digit;
        group = group * 58 + digit;
      }
    } else {
      const a = text.charCodeAt(end - 5);
      const b = text.charCodeAt(end - 4);
      const c = text.charCodeAt(end - 3);
      const d = text.charCodeAt(end - 2);
      const e = text.charCodeAt(end - 1);
      const first = BASE58_DIGITS[a & 127] ?? 0;
      const second = BASE58_DIGITS[b & 127] ?? 0;
      const third = BASE58_DIGITS[c & 127] ?? 0;
      const fourth = BASE58_DIGITS[d & 127] ?? 0;
      const fifth = BASE58_DIGITS[e & 127] ?? 0;
      codes |= a | b | c | d | e;
      digits |= first | second | third | fourth | fifth;
      group = (((first * 58 + second) * 58 + third) * 58 + fourth) * 58 + fifth;
    }
    groups[j] = group;
  }
  return codes < 128 && digits >= 0;
};

/**
 * The factor of group j in sum i is digit i of 58^(5 j) in base 2^20. The factors are literals: a loop over a table
 * takes twice as long. Each sum is below 2^53.
 */
const sumLimbs = (): void => {
  const g0 = groups[0] ?? 0;
  const g1 = groups[1] ?? 0;
  const g2 = groups[2] ?? 0;
  const g3 = groups[3] ?? 0;
  const g4 = groups[4] ?? 0;
  const g5 = groups[5] ?? 0;
  const g6 = groups[6] ?? 0;
  const g7 = groups[7] ?? 0;
  const g8 = groups[8] ?? 0;
  sums[0] = g0 + g1 * 996_768 + g2 * 762_880 + g3 * 688_128;
  sums[1] =
    g1 * 625 +
    g2 * 150_655 +
    g3 * 888_611 +
    g4 * 339_985 +
    g5 * 36_768 +
    g6 * 386_048 +
    g7 * 163_840;
  sums[2] =
    g2 * 391_814 +
    g3 * 214_273 +
    g4 * 700_240 +
    g5 * 551_412 +
    g6 * 846_503 +
    g7 * 489_694 +
    g8 * 24_865;
  sums[3] = g3 * 938_087 + g4 * 993_417 + g5 * 318_949 + g6 * 574_577 + g7 * 677_252 + g8 * 718_651;
  sums[4] = g3 * 233 + g4 * 505_328 + g5 * 837_353 + g6 * 519_252 + g7 * 853_990 + g8 * 403_702;
  sums[5] = g4 * 146_406 + g5 * 37_737 + g6 * 369_540 + g7 * 788_743 + g8 * 640_142;
  sums[6] = g5 * 417_112 + g6 * 917_613 + g7 * 223_179 + g8 * 25_281;
  sums[7] = g5 * 87 + g6 * 731_685 + g7 * 744_045 + g8 * 506_442;
  sums[8] = g6 * 54_706 + g7 * 912_550 + g8 * 972_085;
  sums[9] = g7 * 689_257 + g8 * 1_015_336;
  sums[10] = g7 * 32 + g8 * 915_931;
  sums[11] = g8 * 20_441;
};

/** Splits the sums without carries. A chain of divisions would take longer than everything else together. */
const splitSums = (): void => {
  for (let i = 0; i < LIMBS - 1; i++) {
    const sum = sums[i] ?? 0;
    const above = Math.floor(sum * LIMB_OF);
    const top = Math.floor(sum * TWO_LIMBS_OF);
    low[i] = sum - above * LIMB;
    middle[i + 1] = above - top * LIMB;
    high[i + 2] = top;
  }
};

const limbAt = (i: number): number => (low[i] ?? 0) + (middle[i] ?? 0) + (high[i] ?? 0);

/** Writes two limbs as five bytes. Returns what exceeds the lowest 240 bits. */
const writeBytes = (bytes: Uint8Array): number => {
  let carry = 0;
  for (let i = 0, at = 31; i < LIMBS - 1; i += 2, at -= 5) {
    const even = carry + limbAt(i);
    const odd = (even >> 20) + limbAt(i + 1);
    bytes[at] = even;
    bytes[at - 1] = even >> 8;
    bytes[at - 2] = ((even >> 16) & 15) | (odd << 4);
    bytes[at - 3] = odd >> 4;
    bytes[at - 4] = odd >> 12;
    carry = odd >> 20;
  }
  return carry + limbAt(LIMBS - 1) + (high[LIMBS] ?? 0) * LIMB;
};

/** The 32 bytes of a canonical base58 text, undefined for any other text. */
export const decodeBase58Of32 = (text: string): Uint8Array | undefined => {
  if (text.length < 32 || text.length > 44) return undefined;
  if (!readGroups(text)) return undefined;
  sumLimbs();
  splitSums();
  const bytes = new Uint8Array(32);
  const last = writeBytes(bytes);
  if (last > LAST_LIMB) return undefined;
  bytes[1] = last;
  bytes[0] = last >> 8;
  let zeros = 0;
  while (zeros < 32 && bytes[zeros] === 0) zeros++;
  let ones = 0;
  while (text.charCodeAt(ones) === ONE) ones++;
  return zeros === ones ? bytes : undefined;
};
