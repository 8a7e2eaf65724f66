/** A string or a number of a JSON text; strings are matched so that digits in them are passed over. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][-+.eE0-9]*/g;
const PARTS = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/;

/** The numbers of a text that `JSON.parse` accepts, as they are written there. */
export const jsonNumbers = (text: string): ReadonlyArray<string> =>
  (text.match(STRING_OR_NUMBER) ?? []).filter((token) => !token.startsWith('"'));

/** A regular expression would take quadratic time over `1000…0001`. */
const withoutTrailingZeros = (digits: string): string => {
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return digits.slice(0, end);
};

/** The digits that count and the power of ten they stand at: the same for `1`, `1.0` and `10e-1`. */
const decimal = (token: string): string => {
  const [, whole = "", fraction = "", exponent = "0"] = PARTS.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const counting = withoutTrailingZeros(digits);
  if (counting === "") return "0";
  const power = Number(exponent) - fraction.length + digits.length - counting.length;
  return `${token.startsWith("-") ? "-" : ""}${counting}e${power}`;
};

/**
 * Whether a number as JSON writes it survives being read: the double it becomes is written by ECMAScript,
 * and so by RFC 8785, with the same decimal value. `0.1` does, `0.1000000000000000055` and `1e-400` do not.
 */
export const isExactNumber = (token: string): boolean => {
  if (isCanonicalNumber(token)) return true;
  const value = Number(token);
  return Number.isFinite(value) && decimal(token) === decimal(String(value));
};

/** Whether a number is written as RFC 8785 writes it, section 3.2.2.3: not `1.0`, `-0` or `1e3`. */
export const isCanonicalNumber = (token: string): boolean => String(Number(token)) === token;
