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
 * Whether a JSON number keeps its decimal value when it is read as a double and written by ECMAScript or RFC 8785. `0.1`
 * does; `0.1000000000000000055` and `1e-400` do not.
 */
export const isExactNumber = (token: string): boolean => {
  if (isShort(token)) return true;
  const value = Number(token);
  const written = String(value);
  return written === token || (Number.isFinite(value) && decimal(token) === decimal(written));
};

/** Whether a number is written as RFC 8785, section 3.2.2.3, writes it; `1.0`, `-0` and `1e3` are not. */
export const isCanonicalNumber = (token: string): boolean => String(Number(token)) === token;
