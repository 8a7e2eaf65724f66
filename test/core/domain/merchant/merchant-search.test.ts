import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  foldCase,
  matchesMerchant,
  nameKey,
} from "../../../../core/domain/merchant/merchant-search.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { anyMerchant } from "../../../arbitraries/merchant.ts";
import { runs } from "../../../arbitraries/runs.ts";

const text = fc.string({ unit: anyCharacter, maxLength: 12 });

describe("merchant search", () => {
  test("a substring folds the same alone and inside the whole text, and folding twice changes nothing", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(foldCase(a + b)).toBe(foldCase(a) + foldCase(b));
        expect(foldCase(foldCase(a))).toBe(foldCase(a));
      }),
      runs(500),
    );
    // Greek sigma has another lower case inside a word than at its end.
    expect(foldCase("\u039f\u0394\u039f\u03a3")).toBe("\u03bf\u03b4\u03bf\u03c3");
  });

  test("every part of name, wallet, merchant address and attestor finds the merchant, in any case", () => {
    fc.assert(
      fc.property(anyMerchant(LOCAL_DEPLOYMENT), fc.nat(), fc.nat(), (merchant, from, count) => {
        const { name, wallet, address, attestor } = merchant;
        for (const field of [name, wallet, address, attestor]) {
          const characters = Array.from(field.normalize("NFC"));
          const start = from % characters.length;
          const part = characters.slice(start, start + 1 + (count % characters.length)).join("");
          expect(matchesMerchant(merchant, part)).toBe(true);
          expect(matchesMerchant(merchant, foldCase(part))).toBe(true);
        }
        expect(matchesMerchant(merchant, "")).toBe(true);
        for (const field of [wallet, address, attestor])
          expect(matchesMerchant(merchant, field.toUpperCase())).toBe(true);
      }),
      runs(100),
    );
  });

  test("a text that is in none of these fields finds nothing", () => {
    fc.assert(
      fc.property(anyMerchant(LOCAL_DEPLOYMENT), (merchant) => {
        const { name, wallet, address, attestor } = merchant;
        expect(matchesMerchant(merchant, `${name}\0`)).toBe(false);
        expect(matchesMerchant(merchant, `${wallet}${address}`)).toBe(false);
        expect(matchesMerchant(merchant, `${attestor}0`)).toBe(false);
      }),
      runs(50),
    );
  });

  test("a name is found whether an accented letter is one character or two", () => {
    fc.assert(
      fc.property(anyMerchant(LOCAL_DEPLOYMENT), (merchant) => {
        for (const name of ["Caf\u00e9", "Cafe\u0301"])
          for (const wanted of ["f\u00e9", "fe\u0301", "F\u00c9"])
            expect(matchesMerchant({ ...merchant, name }, wanted)).toBe(true);
      }),
      runs(5),
    );
  });
});

test.each([
  ["Skyline Forecast API", "skyline forecast api", true],
  ["Skyline Forecast API", "Skyline Forecast \uff21PI", true],
  ["\ufb01at", "FIAT", true],
  ["Stra\u00dfe", "STRASSE", true],
  ["\u03c3\u03bf\u03c6\u03cc\u03c2", "\u03a3\u039f\u03a6\u038c\u03a3", true],
  ["Caf\u00e9", "Cafe\u0301", true],
  ["Caf\u00e9", "Cafe", false],
  ["Skyline", "Skyl1ne", false],
  // What a reader does not see: a space of no width, another kind and number of spaces, a variation selector, a soft hyphen, an empty cell.
  ["Test Quotes", "Test\u200b Quotes", true],
  ["Test Quotes", " Test\u2003\u00a0Quotes", true],
  ["Test Quotes", "Test Qu\u00adotes\ufe0f", true],
  ["Test Quotes", "Test\u2800Quotes", true],
  ["Test Quotes", "TestQuotes", false],
  ["\u200b", "\u2060", true],
  // Letters that look alike: one Cyrillic o, a whole name in Cyrillic, Greek capitals, a Greek nu as v and as N, rn as m.
  ["Skyline Forecast", "Skyline F\u043erecast", true],
  ["ope", "\u043e\u0440\u0435", true],
  ["OPE", "\u043e\u0440\u0435", true],
  ["Nike", "\u039d\u0399\u039a\u0395", true],
  ["Visa", "\u03bdisa", true],
  ["Nisa", "\u039disa", true],
  ["Caf\u00e9 Co", "\u0421af\u00e9 \u0421\u043e", true],
  ["Modern Books", "Modem Books", true],
  ["T0kyo 1", "Tokyo l", true],
  ["d\u0131ne", "dine", true],
  ["Nike", "Vike", false],
  ["ope", "opa", false],
  // Names that only look like themselves stay the same in any case, and apart from others.
  ["\u039d\u03af\u03ba\u03b7", "\u039d\u038a\u039a\u0397", true],
  ["\u0416\u0443\u043a\u043e\u0432", "\u0416\u0423\u041a\u041e\u0412", true],
  ["\u041c\u0438\u0440", "\u041c\u0435\u0440", false],
] as const)("%j and %j are the same name: %p", (one, other, same) => {
  expect(nameKey(one) === nameKey(other)).toBe(same);
});
