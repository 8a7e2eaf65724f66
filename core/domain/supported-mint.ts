import type { Address } from "./address.ts";
import { formatUsdc } from "./amount.ts";

/** A token with a known value, as listed by a service or in a verifier's trust policy. */
export type SupportedMint = {
  readonly address: Address;
  /** Decimals of the mint, [0, 255]. */
  readonly decimals: number;
  /** 1 to 16 printable ASCII characters, such as `USDC`. */
  readonly symbol: string;
};

/** The entry of a list for a mint's address, undefined for a mint that is not listed. */
export const listedMint = (
  mints: ReadonlyArray<SupportedMint>,
  mint: string,
): SupportedMint | undefined => mints.find(({ address }) => address === mint);

/** Whether a list calls a mint USDC: that symbol, and its 6 decimals. */
export const isUsdc = (listed: SupportedMint | undefined): boolean =>
  listed?.symbol === "USDC" && listed.decimals === 6;

/**
 * Base units of a mint in USDC with exactly six decimals, or null: only a mint that the list calls USDC, of 6
 * decimals, has such an amount. Anybody can make a mint, of any decimals.
 */
export const usdcOf = (units: bigint, listed: SupportedMint | undefined): string | null =>
  isUsdc(listed) ? formatUsdc(units) : null;

/** Whether a text can be a listed mint's symbol: 1 to 16 printable ASCII characters without a space. */
export const isMintSymbol = (text: string): boolean => /^[!-~]{1,16}$/.test(text);
