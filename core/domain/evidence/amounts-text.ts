import type { EvidenceAmounts } from "./evidence-check.ts";

const amountText = (units: string, usdc: string | null): string =>
  usdc === null ? units : `${units} (${usdc} USDC)`;

/** What a verdict says was paid, as a sentence for people. Base units come first, because only they are signed. */
export const amountsText = (amounts: EvidenceAmounts): string => {
  const { mint, mint_supported: isListed, symbol } = amounts;
  const name = isListed ? `listed as ${symbol}` : "not listed";
  const escrowed = amountText(amounts.amount_stroops, amounts.amount_usdc);
  const released = amountText(amounts.released_stroops, amounts.released_usdc);
  const refunded = amountText(amounts.refunded_stroops, amounts.refunded_usdc);
  return `Base units of the mint ${mint}, ${name}: ${escrowed} escrowed, ${released} to the merchant, ${refunded} back to the agent.`;
};
