import type { Merchant } from "./merchant.ts";

/**
 * A text for comparison without case: each code point lower-cased by itself, so that a part of a
 * text folds to the same as it does inside the whole (a final sigma does not).
 */
export const foldCase = (text: string): string =>
  Array.from(text, (character) => character.toLowerCase()).join("");

/** The folded addresses by which a merchant is found: wallet, merchant account and attestor. */
export const searchableAddresses = (merchant: Merchant): ReadonlyArray<string> =>
  [merchant.wallet, merchant.address, merchant.attestor].map(foldCase);

/** Whether a text occurs, case aside, in a merchant's name, wallet, merchant address or attestor. */
export const matchesMerchant = (merchant: Merchant, text: string): boolean => {
  const wanted = foldCase(text);
  return [foldCase(merchant.name), ...searchableAddresses(merchant)].some((candidate) =>
    candidate.includes(wanted),
  );
};
