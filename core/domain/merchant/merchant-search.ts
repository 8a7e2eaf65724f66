import type { Merchant } from "./merchant.ts";

/**
 * For each ASCII letter, the other characters that look like it: those whose UTS 39 skeleton is that one letter and
 * that NFKC does not change. From Unicode 15 (`confusables.txt`, read through ICU 72). Some look like both I and l.
 * They are listed under i when their small letter looks like an i.
 */
const LOOKALIKES: Readonly<Record<string, string>> = {
  a: "\u0251\u0391\u03b1\u0410\u0430\u13aa\u15c5\ua4ee\u{102a0}\u{16f40}",
  b: "\u0184\u0392\u0412\u042c\u13cf\u13f4\u1472\u15af\u15f7\ua4d0\ua7b4\u{10282}\u{102a1}\u{10301}",
  c: "\u0421\u0441\u13df\u1d04\u2ca4\u2ca5\ua4da\uabaf\u{102a2}\u{10302}\u{10415}\u{1043d}\u{1051c}\u{118e9}\u{118f2}",
  d: "\u0501\u13a0\u13e7\u146f\u15de\u15ea\ua4d2\ua4d3",
  e: "\u0395\u0415\u0435\u04bd\u13ac\u2d39\ua4f0\uab32\u{10286}\u{118a6}\u{118ae}",
  f: "\u03dc\u0584\u15b4\u1e9d\ua4dd\ua798\ua799\uab35\u{10287}\u{102a5}\u{10525}\u{118a2}\u{118c2}",
  g: "\u018d\u0261\u050c\u0581\u13c0\u13f3\u1d83\ua4d6",
  h: "\u0397\u041d\u04bb\u0570\u13bb\u13c2\u157c\u2c8e\ua4e7\u{102cf}",
  i: "\u0131\u0196\u0269\u026a\u0399\u03b9\u0406\u0456\u04c0\u04cf\u13a5\ua647\uab75\u{118c3}",
  j: "\u037f\u03f3\u0408\u0458\u13ab\u148d\ua4d9\ua7b2",
  k: "\u039a\u041a\u13e6\u16d5\u2c94\ua4d7\u{10518}",
  l: "\u01c0\u05d5\u05df\u0627\u0661\u06f1\u07ca\u13de\u14aa\u16c1\u2c92\u2cd0\u2d4f\ua4e1\ua4f2\u{1028a}\u{10309}\u{10320}\u{1041b}\u{10526}\u{118a3}\u{118b2}\u{16f16}\u{16f28}\u{1e8c7}",
  m: "\u039c\u03fa\u041c\u13b7\u15f0\u16d6\u2c98\ua4df\u{102b0}\u{10311}",
  n: "\u039d\u0578\u057c\u2c9a\ua4e0\u{10513}",
  o: "\u039f\u03bf\u03c3\u041e\u043e\u0555\u0585\u05e1\u0647\u0665\u06be\u06c1\u06d5\u06f5\u07c0\u0966\u09e6\u0a66\u0ae6\u0b20\u0b66\u0be6\u0c02\u0c66\u0c82\u0ce6\u0d02\u0d20\u0d66\u0d82\u0e50\u0ed0\u101d\u1040\u10ff\u12d0\u1d0f\u1d11\u2c9e\u2c9f\u2d54\u3007\ua4f3\uab3d\u{10292}\u{102ab}\u{10404}\u{1042c}\u{104c2}\u{104ea}\u{10516}\u{114d0}\u{118b5}\u{118c8}\u{118d7}\u{118e0}",
  p: "\u03a1\u03c1\u0420\u0440\u13e2\u146d\u2ca2\u2ca3\ua4d1\u{10295}",
  q: "\u051b\u0563\u0566\u2d55",
  r: "\u01a6\u0433\u13a1\u13d2\u1587\u1d26\u2c85\ua4e3\uab47\uab48\uab81\u{104b4}\u{16f35}",
  s: "\u01bd\u0405\u0455\u054f\u13d5\u13da\ua4e2\ua731\uabaa\u{10296}\u{10420}\u{10448}\u{118c1}\u{16f3a}",
  t: "\u03a4\u0422\u13a2\u2ca6\ua4d4\u{10297}\u{102b1}\u{10315}\u{118bc}\u{16f0a}",
  u: "\u028b\u03c5\u054d\u057d\u1200\u144c\u1d1c\ua4f4\ua79f\uab4e\uab52\u{104ce}\u{104f6}\u{118b8}\u{118d8}\u{16f42}",
  v: "\u03bd\u0474\u0475\u05d8\u0667\u06f7\u13d9\u142f\u1d20\u2d38\ua4e6\ua6df\uaba9\u{1051d}\u{11706}\u{118a0}\u{118c0}\u{16f08}",
  w: "\u026f\u0461\u051c\u051d\u0561\u13b3\u13d4\u1d21\ua4ea\uab83\u{1170a}\u{1170e}\u{1170f}\u{118e6}\u{118ef}",
  x: "\u03a7\u0425\u0445\u1541\u157d\u16b7\u2cac\u2d5d\ua4eb\ua7b3\u{10290}\u{102b4}\u{10317}\u{10322}\u{10527}\u{118ec}",
  y: "\u0263\u028f\u03a5\u03b3\u0423\u0443\u04ae\u04af\u10e7\u13a9\u13bd\u1d8c\u1eff\u2ca8\ua4ec\uab5a\u{102b2}\u{118a4}\u{118dc}\u{16f43}",
  z: "\u0396\u13c3\u1d22\ua4dc\uab93\u{102f5}\u{118a9}\u{118c4}\u{118e5}",
};

const LETTERS = new Map(
  Object.entries(LOOKALIKES).flatMap(([letter, others]) =>
    Array.from(others, (other) => [other, letter] as const),
  ),
);

/** Replaces each lookalike by its small ASCII letter. The text must be decomposed (NFD). */
const asLookedAt = (text: string): string =>
  Array.from(text, (character) => LETTERS.get(character) ?? character).join("");

/**
 * A text for comparison without case. Each code point is lower-cased alone, so that a substring folds as it does inside
 * the whole text. `toLowerCase` on a whole text treats a final sigma differently.
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

/** Replaces lookalikes twice, among the capitals and then among the small letters. The result has no case. */
const foldLooks = (text: string): string => asLookedAt(foldCase(asLookedAt(text.toUpperCase())));

/**
 * A key that is equal for names that read the same. Such names differ only in case, width, ligatures, spaces, invisible
 * characters or letters that look alike. The key applies NFKC, case folding and the UTS 39 lookalikes of ASCII letters.
 * Within ASCII it merges 0 and o, 1 and l, rn and m. Upper case comes first, because it merges letters that lower case
 * keeps apart (ss and U+00DF).
 *
 * When every letter of a name looks like ASCII, each is replaced before the case is folded: a small nu becomes v, a
 * capital Nu becomes N. In other names both are the same letter.
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
