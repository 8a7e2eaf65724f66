import { formatUnits } from "../../../../core/domain/amount.ts";
import { listedMint, type SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { escapeHtml } from "../html-text.ts";

/** Base units, a decimal text, as HTML. */
export type AmountHtml = (units: string) => string;

/**
 * How a page shows amounts of a mint: `12.500000 USDC` where the list has the mint, and `12500000 base units of a
 * token that is not listed` for any other mint, because anybody can make a mint.
 */
export const amountIn = (
  supportedMints: ReadonlyArray<SupportedMint>,
  mint: string,
): AmountHtml => {
  const listed = listedMint(supportedMints, mint);
  return listed === undefined
    ? (units) => `${escapeHtml(units)} base units of a token that is not listed`
    : (units) => `${formatUnits(BigInt(units), listed.decimals)} ${escapeHtml(listed.symbol)}`;
};
