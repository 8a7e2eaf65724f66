import { BASE58_ALPHABET, BASE58_DIGITS } from "./base58-alphabet.ts";

/** 16 words of 16 bits, or 9 groups of 5 characters, of which one always is a leading zero. */
const WORDS = 16;
const GROUPS = 9;
const GROUP_CHARS = 5;
const CHARS = GROUPS * GROUP_CHARS;
/** 58^5, written out: the runtime does not fold `**`, and multiplies by a literal in a third of the time. */
const GROUP = 656_356_768;
const GROUP_OF = 1 / GROUP;
const WORD = 65_536;
const WORD_OF = 1 / WORD;

/** The `count` digits in base `base`, most significant first, of the powers `unit^(powers-1)` to `unit^0`. */
const powerDigits = (powers: number, unit: bigint, count: number, base: bigint): Float64Array =>
  Float64Array.from({ length: powers * count }, (_, i) => {
    const power = unit ** BigInt(powers - 1 - Math.floor(i / count));
    return Number((power / base ** BigInt(count - 1 - (i % count))) % base);
  });

/** A word times a digit is below 2^46, so that sixteen of them still fit a double exactly. */
const WORD_IN_GROUPS = powerDigits(WORDS, BigInt(WORD), GROUPS, BigInt(GROUP));
const GROUP_IN_WORDS = powerDigits(GROUPS, BigInt(GROUP), WORDS, BigInt(WORD));

const CODES = Uint8Array.from(BASE58_ALPHABET, (character) => character.charCodeAt(0));
const ONE = CODES[0] ?? 0;

/** Characters are made two at a time. */
const PAIR = 58 * 58;
const PAIR_OF = 1 / PAIR;
const FIRST_OF_PAIR = Uint8Array.from({ length: PAIR }, (_, i) => CODES[(i / 58) | 0] ?? 0);
const SECOND_OF_PAIR = Uint8Array.from({ length: PAIR }, (_, i) => CODES[i % 58] ?? 0);

/** What a call works on. Calls do not overlap: nothing in them waits. */
const sums = new Float64Array(WORDS);
const groups = new Int32Array(GROUPS);
const chars = new Uint8Array(CHARS);

const latin1 = new TextDecoder("latin1");

// Each function below is one short loop: written as one, the runtime compiles them five times as slow.

const sumGroups = (bytes: Uint8Array): void => {
  sums.fill(0);
  for (let i = 0; i < WORDS; i++) {
    const word = ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0);
    for (let j = 0; j < GROUPS; j++)
      sums[j] = (sums[j] ?? 0) + word * (WORD_IN_GROUPS[i * GROUPS + j] ?? 0);
  }
};

/** Half is added before a division by multiplication, to keep its rounding away from whole numbers. */
const carryGroups = (): void => {
  let carry = 0;
  for (let j = GROUPS - 1; j >= 0; j--) {
    const sum = (sums[j] ?? 0) + carry;
    carry = Math.floor((sum + 0.5) * GROUP_OF);
    groups[j] = sum - carry * GROUP;
  }
};

const writeChars = (): void => {
  for (let j = 0; j < GROUPS; j++) {
    const group = groups[j] ?? 0;
    const upper = Math.floor((group + 0.5) * PAIR_OF) | 0;
    const first = Math.floor((upper + 0.5) * PAIR_OF) | 0;
    const middle = (upper - first * PAIR) | 0;
    const last = (group - upper * PAIR) | 0;
    const at = j * GROUP_CHARS;
    chars[at] = CODES[first] ?? 0;
    chars[at + 1] = FIRST_OF_PAIR[middle] ?? 0;
    chars[at + 2] = SECOND_OF_PAIR[middle] ?? 0;
    chars[at + 3] = FIRST_OF_PAIR[last] ?? 0;
    chars[at + 4] = SECOND_OF_PAIR[last] ?? 0;
  }
};

const leadingZeros = (bytes: Uint8Array): number => {
  let zeros = 0;
  while (zeros < 32 && bytes[zeros] === 0) zeros++;
  return zeros;
};

/** Base58 of exactly 32 bytes: all digits at once from a table of what each 16 bits contribute. */
export const encodeBase58Of32 = (bytes: Uint8Array): string => {
  sumGroups(bytes);
  carryGroups();
  writeChars();
  let start = 0;
  while (start < CHARS && chars[start] === ONE) start++;
  return latin1.decode(chars.subarray(start - leadingZeros(bytes)));
};

/** False when the text has a character that is none of the alphabet. */
const sumWords = (text: string): boolean => {
  sums.fill(0);
  let any = 0;
  let at = text.length - CHARS;
  for (let j = 0; j < GROUPS; j++) {
    let group = 0;
    for (let k = 0; k < GROUP_CHARS; k++, at++) {
      const code = at < 0 ? ONE : text.charCodeAt(at);
      const digit = code < 128 ? (BASE58_DIGITS[code] ?? -1) : -1;
      any |= digit;
      group = group * 58 + digit;
    }
    for (let i = 0; i < WORDS; i++)
      sums[i] = (sums[i] ?? 0) + group * (GROUP_IN_WORDS[j * WORDS + i] ?? 0);
  }
  return any >= 0;
};

/** Gives what does not fit 256 bits. */
const carryWords = (bytes: Uint8Array): number => {
  let carry = 0;
  for (let i = WORDS - 1; i >= 0; i--) {
    const sum = (sums[i] ?? 0) + carry;
    carry = Math.floor(sum * WORD_OF);
    const word = sum - carry * WORD;
    bytes[2 * i] = word >>> 8;
    bytes[2 * i + 1] = word;
  }
  return carry;
};

/** The 32 bytes that a text is the canonical base58 of, undefined when it is none of theirs. */
export const decodeBase58Of32 = (text: string): Uint8Array | undefined => {
  if (text.length < 32 || text.length > 44) return undefined;
  if (!sumWords(text)) return undefined;
  const bytes = new Uint8Array(32);
  if (carryWords(bytes) > 0) return undefined;
  let ones = 0;
  while (text.charCodeAt(ones) === ONE) ones++;
  return leadingZeros(bytes) === ones ? bytes : undefined;
};
