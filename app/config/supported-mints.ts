import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { type Address, address, parseAddress } from "../../core/domain/address.ts";
import { isMintSymbol, listedMint, type SupportedMint } from "../../core/domain/supported-mint.ts";
import type { Cluster } from "./cluster.ts";
import type { Kind } from "./variable.ts";

const usdc = (mint: Address): SupportedMint => ({ address: mint, decimals: 6, symbol: "USDC" });

/** USDC's mints (Circle, "USDC contract addresses"); on a local ledger, the mock USDC. */
export const USDC_MINTS: Readonly<Record<Cluster, ReadonlyArray<SupportedMint>>> = {
  localnet: [usdc(LOCAL_USDC_MINT)],
  devnet: [usdc(address("4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"))],
  testnet: [],
  "mainnet-beta": [usdc(address("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"))],
};

/**
 * A mint as an operator lists it, `ADDRESS:DECIMALS:SYMBOL`. For USDC the address is enough. For another mint it is
 * not, because its amounts would be shown with a wrong unit.
 */
export const supportedMint: Kind<SupportedMint> = {
  parse: (text) => {
    const [mint = "", decimals, symbol = "", ...rest] = text.split(":");
    const parsed = parseAddress(mint);
    if (parsed === undefined) return undefined;
    if (decimals === undefined) return listedMint(Object.values(USDC_MINTS).flat(), parsed);
    const count = /^(0|[1-9]\d{0,2})$/.test(decimals) ? Number(decimals) : 256;
    return count < 256 && isMintSymbol(symbol) && rest.length === 0
      ? { address: parsed, decimals: count, symbol }
      : undefined;
  },
  expected: "ADDRESS:DECIMALS:SYMBOL, or the address alone for USDC",
};
