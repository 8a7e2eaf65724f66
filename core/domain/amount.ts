/** The largest u64, 2^64 - 1: the most base units a token account can hold. */
export const MAX_U64 = 18_446_744_073_709_551_615n;

/**
 * Base units (stroops) of a canonical decimal text: no sign, no leading zero, 1 to 2^64-1.
 * Undefined for any other text.
 */
export const parseAmount = (text: string): bigint | undefined => {
  if (!/^[1-9][0-9]{0,19}$/.test(text)) return undefined;
  const amount = BigInt(text);
  return amount <= MAX_U64 ? amount : undefined;
};

/**
 * Base units of a decimal such as `1.50` of a mint with `decimals`, [0, 255]: 1 to 2^64-1. Undefined for any other text,
 * and for one with more decimals.
 */
export const parseUnits = (text: string, decimals: number): bigint | undefined => {
  const parts = /^(0|[1-9][0-9]{0,19})(?:\.([0-9]{1,255}))?$/.exec(text);
  const [, whole = "0", fraction = ""] = parts ?? [];
  if (parts === null || fraction.length > decimals) return undefined;
  return parseAmount((whole + fraction.padEnd(decimals, "0")).replace(/^0+/, ""));
};

/** Base units of a mint as a decimal with exactly `decimals` fractional digits, [0, 255]: 1 of 2 is `0.01`. */
export const formatUnits = (units: bigint, decimals: number): string => {
  const digits = units.toString().padStart(decimals + 1, "0");
  const point = digits.length - decimals;
  return decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
};

/** A decimal rendering of base units with exactly six fractional digits: 1 becomes `0.000001`. */
export const formatUsdc = (stroops: bigint): string => formatUnits(stroops, 6);
