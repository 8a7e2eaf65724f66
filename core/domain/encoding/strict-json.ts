import type { Json } from "./canonical-json.ts";

/** A string or a number of a JSON text. Strings match too, so that digits inside them are skipped. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][-+.eE0-9]*/g;
const ZERO = 0x30;

/** The numbers of a text that `JSON.parse` accepts, as the text writes them. */
export const jsonNumbers = (text: string): ReadonlyArray<string> =>
  (text.match(STRING_OR_NUMBER) ?? []).filter((token) => !token.startsWith('"'));

/** A number's significant digits and their power of ten: equal for `1`, `1.0` and `10e-1`. */
const decimal = (token: string): string => {
  const exponentAt = token.search(/[eE]/);
  const sign = token.startsWith("-") ? "-" : "";
  const mantissa = token.slice(sign.length, exponentAt === -1 ? undefined : exponentAt);
  const exponent = exponentAt === -1 ? 0 : Number(token.slice(exponentAt + 1));
  const point = mantissa.indexOf(".");
  const fractionDigits = point === -1 ? 0 : mantissa.length - point - 1;
  const digits = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let start = 0;
  while (digits.charCodeAt(start) === ZERO) start++;
  let end = digits.length;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end--;
  if (start === end) return "0";
  return `${sign}${digits.slice(start, end)}e${exponent - fractionDigits + digits.length - end}`;
};

/** Any decimal with at most this many digits is exact as a normal double (C's `DBL_DIG`). */
const SAFE_DIGITS = 15;
/** A number of 15 digits with an exponent up to this is a normal double or zero. */
const SAFE_EXPONENT = 290;

/**
 * Recognizes most exact numbers by their length. A large text can hold 65,000 numbers, and comparing one takes 1.5 us.
 */
const isShort = (token: string): boolean => {
  const at = token.search(/[eE]/);
  if (at === -1) return token.length <= SAFE_DIGITS;
  return at <= SAFE_DIGITS && Math.abs(Number(token.slice(at + 1))) <= SAFE_EXPONENT;
};

/**
 * Whether a JSON number keeps its decimal value when it is read as a double and written by ECMAScript or RFC 8785.
 * `0.1` does; `0.1000000000000000055` and `1e-400` do not.
 */
export const isExactNumber = (token: string): boolean => {
  if (isShort(token)) return true;
  const value = Number(token);
  const written = String(value);
  return written === token || (Number.isFinite(value) && decimal(token) === decimal(written));
};

/** Whether a number is written as RFC 8785, section 3.2.2.3, writes it; `1.0`, `-0` and `1e3` are not. */
export const isCanonicalNumber = (token: string): boolean => String(Number(token)) === token;

/** The deepest nesting. Deeper values are refused, so that no input exhausts the stack. */
const MAX_DEPTH = 64;

class NotStrict extends Error {}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The index of a string's closing quote, or of the text's end. */
const endOfString = (text: string, start: number): number => {
  let end = start + 1;
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    if (code === BACKSLASH) end++;
  }
  return end;
};

/**
 * Whether a text, JSON or not, has more than `most` commas and opening brackets outside of strings. This bounds its
 * number of values at far less than the cost of parsing.
 */
export const hasMoreValuesThan = (text: string, most: number): boolean => {
  let count = 0;
  for (let at = 0; at < text.length && count <= most; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) count++;
  }
  return count > most;
};

/** The characters of a number after its first one. */
const NUMBER = /[-+.eE0-9]*/y;

const endOfNumber = (text: string, start: number): number => {
  NUMBER.lastIndex = start + 1;
  NUMBER.test(text);
  return NUMBER.lastIndex;
};

/**
 * Whether a double loses digits of the number. Numbers beyond 2^53 pass here; the caller judges them by their member.
 */
const isLossy = (token: string): boolean =>
  !isExactNumber(token) && Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER;

/**
 * The most names of an object that are compared one by one. A set for each of many small objects costs more than all
 * else.
 */
const FEW = 12;

/** An open object or list, and the member names so far: the first few, and the others. */
type Scope = {
  readonly isObject: boolean;
  readonly few: Array<string>;
  others: Set<string> | null;
};

const isRepeated = (scope: Scope, name: string): boolean => {
  const { few } = scope;
  if (few.includes(name)) return true;
  if (few.length < FEW) {
    few.push(name);
    return false;
  }
  scope.others ??= new Set();
  const { size } = scope.others;
  return scope.others.add(name).size === size;
};

const nameOf = (written: string): string =>
  written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;

/**
 * Throws for an ambiguous text that `JSON.parse` accepts: a member twice in one object, nesting deeper than
 * `MAX_DEPTH`, or a number that a double does not hold exactly.
 */
const assertUnambiguous = (text: string): void => {
  const around: Array<Scope | undefined> = [];
  let scope: Scope | undefined;
  let expectsName = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (expectsName && scope !== undefined) {
        if (isRepeated(scope, nameOf(text.slice(at + 1, end))))
          throw new NotStrict("has a member twice");
        expectsName = false;
      }
      at = end;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (around.length === MAX_DEPTH) throw new NotStrict("is nested too deeply");
      around.push(scope);
      expectsName = code === OPEN_OBJECT;
      scope = { isObject: expectsName, few: [], others: null };
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      scope = around.pop();
      expectsName = false;
    } else if (code === COMMA) {
      expectsName = scope?.isObject === true;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      if (isLossy(text.slice(at, end)))
        throw new NotStrict("has a number that JSON does not carry exactly");
      at = end - 1;
    }
  }
};

/** Throws for a value without RFC 8785 bytes: a lone surrogate, or a number too large for a double. */
const assertCanonical = (value: Json): void => {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new NotStrict("holds a lone surrogate");
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new NotStrict("holds a number that is too large");
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      assertCanonical(name);
      assertCanonical(member);
    }
  }
};

/** The value of a JSON text, or what is wrong with it. */
export type ParsedJson = { readonly value: Json } | { readonly fault: string };

const parse = (text: string, assert: (value: Json) => void): ParsedJson => {
  try {
    const value = JSON.parse(text) as Json;
    assertUnambiguous(text);
    assert(value);
    return { value };
  } catch (error) {
    return { fault: error instanceof NotStrict ? error.message : "is not JSON" };
  }
};

/**
 * The value of a JSON text that can be read in one way only. Refused are a member twice in one object, nesting beyond
 * 64, and a number up to 2^53 that a double does not hold exactly (RFC 8259, sections 4 and 6; RFC 7493, sections 2.2
 * and 2.3).
 */
export const parseUnambiguousJson = (text: string): ParsedJson => parse(text, () => undefined);

/**
 * As `parseUnambiguousJson`, but also refuses a lone surrogate and a number too large for a double (RFC 7493, section
 * 2). Every value it returns has RFC 8785 bytes.
 */
export const parseStrictJson = (text: string): ParsedJson => parse(text, assertCanonical);
