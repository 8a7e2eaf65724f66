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
import {
  isMerchantName,
  merchantStats,
  showsSomething,
} from "../../../../core/domain/merchant/merchant.ts";
import { address } from "../../../../core/domain/address.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";

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
  // What a reader does not see: a space of no width, another kind and number of spaces, a variation selector, a soft
  // hyphen, an empty cell.
  ["Test Quotes", "Test\u200b Quotes", true],
  ["Test Quotes", " Test\u2003\u00a0Quotes", true],
  ["Test Quotes", "Test Qu\u00adotes\ufe0f", true],
  ["Test Quotes", "Test\u2800Quotes", true],
  ["Test Quotes", "TestQuotes", false],
  ["\u200b", "\u2060", true],
  // Letters that look alike: one Cyrillic o, a whole name in Cyrillic, Greek capitals, a Greek nu as v and as N, rn as
  // m.
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

const BLANKS = [0x20, 0xa0, 0xad, 0x34f, 0x115f, 0x180e, 0x2000, 0x200b, 0x200d, 0x2060, 0x2800];

const anyBlanks = fc
  .array(fc.constantFrom(...BLANKS, 0x3000, 0x3164, 0xfe0f, 0xfeff, 0xffa0, 0xe0020), {
    minLength: 1,
    maxLength: 8,
  })
  .map((points) => String.fromCodePoint(...points));

describe("whether a merchant's name shows something", () => {
  test("a name of blanks and invisible characters does not, and the program takes it", () => {
    fc.assert(
      fc.property(anyBlanks, (name) => {
        expect(showsSomething(name)).toBe(false);
        expect(isMerchantName(name)).toBe(true);
      }),
      runs(100),
    );
  });

  test("one character among them that shows is enough", () => {
    for (const shown of ["a", ".", "é", "本", "😀", "ب", "\u0301"]) {
      expect(showsSomething(shown)).toBe(true);
      fc.assert(
        fc.property(anyBlanks, anyBlanks, (before, behind) =>
          showsSomething(before + shown + behind),
        ),
        runs(20),
      );
    }
  });

  test("of no characters, nothing shows", () => {
    expect(showsSomething("")).toBe(false);
  });
});

const escrows = fc.array(
  anyEscrow({
    custodyProgram: address("Custody111111111111111111111111111111111111"),
    attestorProgram: address("Attestor11111111111111111111111111111111111"),
  }),
  { maxLength: 12 },
);

describe("merchant statistics", () => {
  test("counts add up", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        const stats = merchantStats(list);
        const tally = { Pending: 0, Fulfilled: 0, PartiallyFulfilled: 0, Refunded: 0 };
        for (const escrow of list) tally[escrow.state] += 1;
        expect(stats).toMatchObject({
          escrows: list.length,
          pending: tally.Pending,
          fulfilled: tally.Fulfilled,
          partiallyFulfilled: tally.PartiallyFulfilled,
          refunded: tally.Refunded,
        });
      }),
      runs(200),
    );
  });

  // The lower median: at least half of the values are at or below it, and no smaller value has that property.
  test("the median is the lower median of single payments, and so the time of a real delivery", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        const { medianDeliverySeconds: median } = merchantStats(list);
        const seconds = list
          .filter(({ sessionKey }) => sessionKey === null)
          .filter(({ state }) => state === "Fulfilled" || state === "PartiallyFulfilled")
          .map(({ settledAt, createdAt }) => (settledAt ?? 0n) - createdAt);
        if (median === null) return expect(seconds).toHaveLength(0);
        expect(seconds).toContain(median);
        const below = seconds.filter((value) => value < median).length;
        const upTo = seconds.filter((value) => value <= median).length;
        expect(below).toBeLessThan(seconds.length / 2);
        expect(upTo).toBeGreaterThanOrEqual(seconds.length / 2);
      }),
      runs(200),
    );
  });

  test("order does not matter", () => {
    fc.assert(
      fc.property(escrows, (list) => {
        expect(merchantStats(list.toReversed())).toEqual(merchantStats(list));
      }),
      runs(50),
    );
  });
});
