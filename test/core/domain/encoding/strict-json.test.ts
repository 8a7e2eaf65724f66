import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJsonBytes, type Json } from "../../../../core/domain/encoding/canonical-json.ts";
import {
  hasMoreValuesThan,
  parseStrictJson,
  parseUnambiguousJson,
} from "../../../../core/domain/encoding/strict-json.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { jsonText } from "../../../arbitraries/json-text.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { referenceFault } from "./reference-json.ts";

const anyJson = fc
  .jsonValue({ stringUnit: anyCharacter, maxDepth: 5 })
  .map((value) => value as Json);
const accepts = (text: string): boolean => "value" in parseStrictJson(text);

/** Texts of JSON, a fifth of them with up to two characters cut out. */
const soundAndBroken = fc.oneof(
  { weight: 4, arbitrary: jsonText },
  fc.tuple(jsonText, fc.nat(), fc.nat({ max: 2 })).map(([text, at, removed]) => {
    const index = at % (text.length + 1);
    return text.slice(0, index) + text.slice(index + removed);
  }),
);

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** A member's name with some of its characters written as escapes. */
const escaped = (name: string, which: ReadonlyArray<boolean>): string =>
  name
    .split("")
    .map((unit, i) =>
      which[i % which.length] === true
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(unit).slice(1, -1),
    )
    .join("");

describe("strict JSON", () => {
  test("every JSON value is read like JSON.parse reads it, compact or spread out", () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text) as Json });
      }),
      runs(300),
    );
  });

  test("a text is accepted only when JSON.parse accepts it, and can then be canonicalized", () => {
    const character = fc.constantFrom(
      ...'{}[]":,\\ue0019-+.tfn \n'.split(""),
      "true",
      '"a":',
      "1e999",
    );
    const edited = fc
      .tuple(anyJson, fc.nat(), fc.nat({ max: 3 }), fc.string({ unit: character, maxLength: 3 }))
      .map(([value, at, removed, inserted]) => {
        const text = JSON.stringify(value);
        const index = at % (text.length + 1);
        return text.slice(0, index) + inserted + text.slice(index + removed);
      });
    fc.assert(
      fc.property(fc.oneof(edited, fc.string({ unit: character, maxLength: 10 })), (text) => {
        const parsed = parseStrictJson(text);
        if ("fault" in parsed) return;
        expect(parsed.value).toEqual(JSON.parse(text) as Json);
        expect(() => canonicalJsonBytes(parsed.value)).not.toThrow();
      }),
      runs(1000),
    );
  });

  test("a repeated member is refused at any depth and in any spelling", () => {
    const name = fc.string({ unit: anyCharacter, maxLength: 4 });
    const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 });
    const wrap = fc.array(fc.constantFrom("array", "object"), { maxLength: 5 });
    fc.assert(
      fc.property(name, flags, anyJson, wrap, (name, which, value, wrappers) => {
        const member = `"${escaped(name, which)}":${JSON.stringify(value)}`;
        const around = (text: string) =>
          wrappers.reduce(
            (inner, kind) => (kind === "array" ? `[0,${inner}]` : `{"k":${inner}}`),
            text,
          );
        expect(accepts(around(`{${member}}`))).toBe(true);
        expect(accepts(around(`{${member},${JSON.stringify(name)}:1}`))).toBe(false);
        expect(accepts(around(`{${member},"other name":{${member}}}`))).toBe(true);
      }),
      runs(200),
    );
  });

  test("values without a canonical form are refused: lone surrogates and numbers too large for a double", () => {
    for (const text of [
      '"\\ud800"',
      '["\\udc00x"]',
      '{"\\ud83c":1}',
      '{"a":["\\ud83c\\ud83c"]}',
      '"\ud800"',
    ]) {
      expect(accepts(text)).toBe(false);
    }
    for (const text of ["1e309", "-1e309", "[1e999]", '{"a":{"b":1e400}}']) {
      expect(accepts(text)).toBe(false);
    }
    expect(accepts('"\\ud83c\\udf38"')).toBe(true);
    expect(accepts("1.7976931348623157e308")).toBe(true);
  });

  test("parseUnambiguousJson accepts both, so that the caller can name the member", () => {
    expect(parseUnambiguousJson('{"a":"\\ud800"}')).toEqual({ value: { a: "\ud800" } });
    expect(parseUnambiguousJson("[1e999]")).toEqual({ value: [Infinity] });
    expect(parseUnambiguousJson('{"a":1,"\\u0061":2}')).toEqual({ fault: "has a member twice" });
    expect(parseUnambiguousJson(nested(65))).toEqual({ fault: "is nested too deeply" });
    expect(parseUnambiguousJson("{")).toEqual({ fault: "is not JSON" });
  });

  test("nesting ends at 64, and no depth exhausts the stack", () => {
    expect(accepts(nested(64))).toBe(true);
    expect(accepts(nested(65))).toBe(false);
    expect(accepts(`${'{"a":'.repeat(64)}1${"}".repeat(64)}`)).toBe(true);
    expect(accepts(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).toBe(false);
    for (const depth of [1000, 100_000]) {
      expect(accepts(nested(depth))).toBe(false);
      expect(accepts("[".repeat(depth))).toBe(false);
    }
  });

  test("a text is refused exactly when a slow reference refuses it, with its first fault", () => {
    fc.assert(
      fc.property(soundAndBroken, (text) => {
        const fault = referenceFault(text);
        expect(parseUnambiguousJson(text)).toEqual(
          fault === undefined ? { value: JSON.parse(text) as Json } : { fault },
        );
      }),
      runs(3000),
    );
  });

  test("the generated texts contain every kind of fault", () => {
    const texts = fc.sample(soundAndBroken, { numRuns: 3000, seed: 1 });
    expect(new Set(texts.map(referenceFault)).size).toBe(5);
  });
});

describe("a bound on the values of a text", () => {
  const values = (text: string, most: number) => hasMoreValuesThan(text, most);

  test("commas and opening brackets count, except in strings", () => {
    const text = '{"a,[{":[1,{"\\",":"]}"}],"b":0}';
    expect([values(text, 4), values(text, 5)]).toEqual([true, false]);
    expect([values("0", 0), values("[0]", 0), values("[0,0]", 1)]).toEqual([false, true, true]);
  });

  test("malformed JSON has a bound too", () => {
    expect(values('"never closed,,,,', 0)).toBe(false);
    expect(values('"ends in an escape\\', 0)).toBe(false);
    expect(values(",".repeat(9), 8)).toBe(true);
  });

  test("no JSON value has more members and elements than the bound", () => {
    const sizeOf = (value: Json): number =>
      typeof value === "object" && value !== null
        ? Object.values(value).reduce((sum: number, member: Json) => sum + 1 + sizeOf(member), 0)
        : 0;
    fc.assert(
      fc.property(anyJson, (value) => {
        const size = sizeOf(value);
        if (size > 0) expect(values(JSON.stringify(value), size - 1)).toBe(true);
      }),
      runs(200),
    );
  });
});
