import { MAX_U64 } from "../../core/domain/amount.ts";
import { SettlementError } from "../settlement-error.ts";

/**
 * Base units of a decimal amount such as `1.50` of a mint with `decimals`, 1 to 2^64-1. @throws SettlementError for another text, and for more
 * decimals than the mint has.
 */
export const unitsOf = (amount: string, decimals: number): bigint => {
  const parts = /^(0|[1-9][0-9]{0,19})(?:\.([0-9]{1,255}))?$/.exec(amount);
  const [, whole = "0", fraction = ""] = parts ?? [];
  const units = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (parts === null || fraction.length > decimals || units === 0n || units > MAX_U64)
    throw new SettlementError(
      "invalid_amount",
      `${amount} is no amount of a mint with ${decimals} decimals.`,
      `Give a text such as "1.50": above zero, with at most ${decimals} decimals.`,
    );
  return units;
};
