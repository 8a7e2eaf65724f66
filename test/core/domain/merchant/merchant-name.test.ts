import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isMerchantName, showsSomething } from "../../../../core/domain/merchant/merchant-name.ts";
import { runs } from "../../../arbitraries/runs.ts";

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
