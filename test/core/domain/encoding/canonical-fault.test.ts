import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import {
  canonicalFault,
  canonicalJsonBytes,
  type Json,
} from "../../../../core/domain/encoding/canonical-json.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";

type Payload = { readonly [name: string]: Json };

describe("a payload without exact canonical bytes", () => {
  test("a payload without a fault has them, and they read back the same", () => {
    const anyJson = fc.jsonValue({ stringUnit: anyCharacter }).map((value) => value as Json);
    const broken = fc.constantFrom<Json>(
      "\ud800",
      "a\udc00",
      2 ** 53,
      -(2 ** 53),
      Infinity,
      Number.NaN,
    );
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: anyCharacter }), fc.oneof(anyJson, broken)),
        (payload) => {
          const value = payload as Payload;
          if (canonicalFault(value) !== undefined) return;
          const bytes = canonicalJsonBytes(value);
          const again = JSON.parse(new TextDecoder().decode(bytes)) as Json;
          expect(canonicalJsonBytes(again)).toEqual(bytes);
        },
      ),
      runs(300),
    );
  });

  test("the fault's position is an RFC 6901 pointer", () => {
    const at = (value: Json) => canonicalFault(value)?.pointer;
    expect(at({ a: [1, { "b/c~d": "\ud800" }] })).toBe("/a/1/b~1c~0d");
    expect(at({ a: { "\ud800": 1 } })).toBe("/a");
    expect(at([0, 2 ** 53])).toBe("/1");
    expect(at("\udc00")).toBe("");
    expect(at({ a: [1, 2 ** 53 - 1, "\u{1f338}", null, true] })).toBeUndefined();
  });

  test("every fault is found, the first one first, with its pointer", () => {
    /** Each value with its pointer, in the order of the text. A name comes before its value. */
    function* places(value: Json, pointer: string): Generator<readonly [string, Json]> {
      yield [pointer, value];
      if (typeof value !== "object" || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) yield [pointer, name];
        yield* places(member, `${pointer}/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`);
      }
    }
    const isFaulty = (value: Json): boolean =>
      typeof value === "string"
        ? /\p{Surrogate}/u.test(value)
        : typeof value === "number" && !(Math.abs(value) <= 2 ** 53 - 1);
    const name = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "~", "/", "1", "0"), maxLength: 3 }),
      fc.constantFrom("__proto__", "\ud800", "constructor"),
    );
    const leaf = fc.constantFrom<Json>(0, 1.5, "a", "\u{1f338}", null, 2 ** 53, Infinity, "\udc00");
    const { value: anyValue } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("value"), { maxLength: 3 }),
        fc
          .array(fc.tuple(name, tie("value")), { maxLength: 3 })
          .map((members): Json => Object.fromEntries(members)),
      ),
    }));
    fc.assert(
      fc.property(anyValue, (value) => {
        const first = [...places(value, "")].find(([, part]) => isFaulty(part));
        expect(canonicalFault(value)?.pointer).toBe(first?.[0]);
      }),
      runs(500),
    );
  });

  test("a pointer is built only for a fault, not for each of 16,000 elements", () => {
    const elements: ReadonlyArray<Json> = Array.from({ length: 16_000 }, () => 0);
    const escape = spyOn(String.prototype, "replaceAll");
    try {
      expect(canonicalFault({ payload: { elements } })).toBeUndefined();
      expect(escape).not.toHaveBeenCalled();
      // Two names with characters to escape: `~` and `/`.
      expect(canonicalFault({ elements, b: ["\ud800"] })?.pointer).toBe("/b/0");
      expect(escape).toHaveBeenCalledTimes(4);
    } finally {
      escape.mockRestore();
    }
  });
});
