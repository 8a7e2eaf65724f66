import type { Merchant } from "./merchant.ts";

/**
 * A text for comparison without case. Each code point is lower-cased alone, so that a substring folds as it does inside
 * the whole; a final sigma would not.
 */
export const foldCase = (text: string): string =>
  Array.from(text, (character) => character.toLowerCase()).join("");

/** The folded addresses that find a merchant: wallet, merchant account and attestor. */
export const searchableAddresses = (merchant: Merchant): ReadonlyArray<string> =>
  [merchant.wallet, merchant.address, merchant.attestor].map(foldCase);

/** Whether a merchant's name, wallet, merchant address or attestor contains a text, ignoring case. */
export const matchesMerchant = (merchant: Merchant, text: string): boolean => {
  const wanted = foldCase(text);
  return [foldCase(merchant.name), ...searchableAddresses(merchant)].some((candidate) =>
    candidate.includes(wanted),
  );
};
