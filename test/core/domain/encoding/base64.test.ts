import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decodeBase64,
  encodeBase64,
  encodeBase64Url,
} from "../../../../core/domain/encoding/base64.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.constantFrom(32, 64, 352, 1232).chain(bytesOfLength),
);

/** The bytes of a text that equals what Buffer writes for them. A strict reader accepts no other text. */
const canonical = (text: string): Uint8Array | undefined => {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? new Uint8Array(bytes) : undefined;
};

const accepted = (text: string): boolean => decodeBase64(text) !== undefined;

describe("base64", () => {
  test("bytes encode as Buffer encodes them, and decode back", () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
        expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
      }),
      runs(500),
    );
  });

  test("a text decodes exactly when it is the encoding of its bytes", () => {
    const character = fc.constantFrom(
      ...ALPHABET.split(""),
      "=",
      "=",
      "-",
      "_",
      " ",
      "\n",
      "\t",
      "\r",
      "\f",
      "\u0100",
      "\0",
    );
    const edited = fc
      .tuple(anyBytes, fc.nat(), fc.nat({ max: 2 }), fc.string({ unit: character, maxLength: 3 }))
      .map(([bytes, at, removed, inserted]) => {
        const text = Buffer.from(bytes).toString("base64");
        const index = at % (text.length + 1);
        return text.slice(0, index) + inserted + text.slice(index + removed);
      });
    const anything = fc.oneof(fc.string({ unit: character, maxLength: 12 }), edited);
    fc.assert(
      fc.property(anything, (text) => {
        expect(decodeBase64(text)).toEqual(canonical(text));
      }),
      runs(3000),
    );
  });

  test("only canonical four-character groups decode", () => {
    const lasts = ALPHABET.split("").filter((last) => accepted(`A${last}==`));
    expect(lasts.join("")).toBe("AQgw");
    const thirds = ALPHABET.split("").filter((third) => accepted(`AA${third}=`));
    expect(thirds.join("")).toBe("AEIMQUYcgkosw048");
    const refused = "A AA AAA A=== ==== =AAA AA=A AAAA= AA==AAAA".split(" ");
    for (const text of [...refused, " AAA", "AAA\n"]) expect(decodeBase64(text)).toBeUndefined();
    expect(decodeBase64("")).toEqual(new Uint8Array(0));
  });
});
