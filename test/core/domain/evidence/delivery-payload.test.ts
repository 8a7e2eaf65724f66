import { describe, expect, spyOn, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { canonicalJsonBytes, type Json } from "../../../../core/domain/encoding/canonical-json.ts";
import {
  canonicalFault,
  compareWithTemplate,
} from "../../../../core/domain/evidence/delivery-payload.ts";
import { proofTemplateSchema } from "../../../../core/domain/evidence/proof-template.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template-catalogue.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";

type Payload = { readonly [name: string]: Json };

const times = "2026-02-31T00:00:00Z 2026-13-01T00:00:00Z 2026-01-01T24:00:00Z 2026-01-01T00:00:60Z";
const urls = "https://a http:// ftp://a https://a\u00a0b";
const numbers: ReadonlyArray<Json> = [99, 100, 599, 600, -1, 0, 1.5, 2 ** 53 - 1, 2 ** 53, 1e300];
const long = ["a", "\u{1f338}"].flatMap((unit) => [unit.repeat(1024), unit.repeat(1025)]);
const padded = ["https://".padEnd(2048, "a"), "https://".padEnd(2049, "a")];
const hashes = ["F".repeat(64), "f".repeat(64), "f".repeat(63)];
const others: ReadonlyArray<Json> = ["", null, true, [], {}, ["a"]];
const edges: ReadonlyArray<Json> = [
  ...`${times} ${urls}`.split(" "),
  ...numbers,
  ...long,
  ...padded,
  ...hashes,
  ...others,
];
const anyValue = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...edges) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }).map((value) => value as Json) },
);

describe.each(PROOF_TEMPLATES.map((template) => [template.id, template] as const))(
  "a payload beside %s",
  (_, template) => {
    const valid = new Ajv2020({ strict: true }).compile(proofTemplateSchema(template));
    const names = [...template.fields.map(({ name }) => name), "extra", "__proto__", "constructor"];
    const edits = fc.array(fc.tuple(fc.constantFrom(...names), fc.option(anyValue)), {
      maxLength: 3,
    });
    const edited = (changes: ReadonlyArray<readonly [string, Json]>): Payload => {
      const members = new Map<string, Json>(Object.entries(template.example));
      for (const [name, value] of changes) {
        if (value === null) members.delete(name);
        else members.set(name, value);
      }
      return Object.fromEntries(members);
    };

    test("it is well, field by field, exactly when the published schema takes it", () => {
      fc.assert(
        fc.property(edits, (changes) => {
          const payload = edited(changes);
          const results = compareWithTemplate(payload, template);
          const well = results.every(({ outcome }) => outcome === "ok" || outcome === "absent");
          expect([payload, well]).toEqual([payload, valid(payload)]);
          const named = results.map(({ name }) => name);
          expect(new Set(named)).toEqual(new Set([...names.slice(0, -3), ...Object.keys(payload)]));
          for (const { name, outcome, expected, found } of results) {
            expect(expected === null).toBe(outcome === "ok" || outcome === "absent");
            expect(found === null).toBe(!Object.hasOwn(payload, name));
          }
        }),
        runs(150),
      );
    });
  },
);

describe("a payload without exact canonical bytes", () => {
  test("one without fault has them, and they read back the same", () => {
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

  test("the place of the fault is an RFC 6901 pointer", () => {
    const at = (value: Json) => canonicalFault(value)?.pointer;
    expect(at({ a: [1, { "b/c~d": "\ud800" }] })).toBe("/a/1/b~1c~0d");
    expect(at({ a: { "\ud800": 1 } })).toBe("/a");
    expect(at([0, 2 ** 53])).toBe("/1");
    expect(at("\udc00")).toBe("");
    expect(at({ a: [1, 2 ** 53 - 1, "\u{1f338}", null, true] })).toBeUndefined();
  });

  test("every fault is found, the first one first, with the pointer that leads to it", () => {
    /** Each value with its pointer, in the order of the text; a name stands before its value. */
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

  test("a pointer is written for a fault alone, not for each of 16,000 elements", () => {
    const elements: ReadonlyArray<Json> = Array.from({ length: 16_000 }, () => 0);
    const escape = spyOn(String.prototype, "replaceAll");
    try {
      expect(canonicalFault({ payload: { elements } })).toBeUndefined();
      expect(escape).not.toHaveBeenCalled();
      // Two names to escape, each for `~` and for `/`.
      expect(canonicalFault({ elements, b: ["\ud800"] })?.pointer).toBe("/b/0");
      expect(escape).toHaveBeenCalledTimes(4);
    } finally {
      escape.mockRestore();
    }
  });
});
