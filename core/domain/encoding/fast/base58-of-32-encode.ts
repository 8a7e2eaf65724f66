import { BASE58_ALPHABET } from "./base58-alphabet.ts";

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
