import type { AssetAmount, Price } from "@x402/core/types";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { isUsdc, type SupportedMint } from "../../../core/domain/supported-mint.ts";
import { unitsOf } from "../../pay/units.ts";
import { SettlementError } from "../../settlement-error.ts";

/** "$1.50", "1.50", "1.50 USDC", or a number. */
const MONEY = /^\$?([0-9.]+)(?: ([!-~]{1,16}))?$/;

const invalid = (detail: string): never => {
  throw new SettlementError(
    "invalid_price",
    detail,
    'Give a text such as "$1.50" or "1.50 USDC", or base units and a mint of the trust document.',
  );
};

const mintFor = ({ supportedMints }: TrustPolicy, symbol: string | undefined): SupportedMint =>
  supportedMints.find((mint) => (symbol === undefined ? isUsdc(mint) : mint.symbol === symbol)) ??
  invalid(`The trust document lists no mint ${symbol ?? "USDC"}.`);

/** A price in base units of a mint. Money without a symbol is USDC. @throws SettlementError */
export const priceIn = (policy: TrustPolicy, price: Price): AssetAmount => {
  if (typeof price === "object") return price;
  const [, amount, symbol] = MONEY.exec(String(price)) ?? [];
  if (amount === undefined) return invalid(`${price} is no price.`);
  const mint = mintFor(policy, symbol);
  return { asset: mint.address, amount: unitsOf(amount, mint.decimals).toString() };
};
