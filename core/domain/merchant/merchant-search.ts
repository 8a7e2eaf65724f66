import { asLookedAt } from "./lookalikes.ts";
import type { Merchant } from "./merchant.ts";

/**
 * A text for comparison without case. Each code point is lower-cased alone, so that a substring folds as it does inside
 * the whole. Lower-casing whole texts would not do that for a final sigma.
 */
export const foldCase = (text: string): string =>
  Array.from(text, (character) => character.toLowerCase()).join("");

/** A name, or a text that is looked for in names: composed (NFC) and without case. */
export const foldName = (text: string): string => foldCase(text.normalize("NFC"));

/** Invisible characters: spaces of no width, joiners, soft hyphens, fillers, variation selectors, tags. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
/** Spaces of any width and number, and the empty braille cell. */
const BLANKS = /[\p{White_Space}\u2800]+/gu;

/** A letter beyond ASCII. */
const OTHER_LETTER = /[^\P{Letter}A-Za-z]/u;

/** Without case, with each capital and then each small letter as the ASCII letter that it looks like. */
const foldLooks = (text: string): string => asLookedAt(foldCase(asLookedAt(text.toUpperCase())));

/**
 * A key that is equal for names that read the same: that differ only in case, width, ligatures, spaces, invisible characters or letters that look alike. NFKC, case folding and UTS
 * 39 as far as it leads to ASCII letters; of ASCII itself 0 and o, 1 and l, rn and m. Upper case comes first, because it merges letters that lower case keeps apart (ss and U+00DF).
 * A name that looks wholly like ASCII is taken as it looks: a small nu looks like v, its capital like N. In other names both are one letter.
 */
export const nameKey = (name: string): string => {
  const seen = name.normalize("NFKC").replace(UNSEEN, "").replace(BLANKS, " ").trim();
  const marked = seen.normalize("NFD");
  const looked = asLookedAt(marked);
  return foldLooks(OTHER_LETTER.test(looked) ? marked : looked)
    .replaceAll("0", "o")
    .replaceAll(/[1|]/g, "l")
    .replaceAll("rn", "m")
    .normalize("NFKC");
};

/** The folded addresses that find a merchant: wallet, merchant account and attestor. */
export const searchableAddresses = (merchant: Merchant): ReadonlyArray<string> =>
  [merchant.wallet, merchant.address, merchant.attestor].map(foldCase);

/** Whether a merchant's name, wallet, merchant address or attestor contains a text, ignoring case. */
export const matchesMerchant = (merchant: Merchant, text: string): boolean => {
  const wanted = foldName(text);
  return [foldName(merchant.name), ...searchableAddresses(merchant)].some((candidate) =>
    candidate.includes(wanted),
  );
};
