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

/** A decimal rendering of base units with exactly six fractional digits: 1 becomes `0.000001`. */
export const formatUsdc = (stroops: bigint): string => {
  const digits = stroops.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
};
