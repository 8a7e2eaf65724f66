import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { compareWithTemplate } from "../../../../core/domain/evidence/delivery-payload.ts";
import {
  PROOF_TEMPLATES,
  proofTemplateSchema,
} from "../../../../core/domain/evidence/proof-template.ts";
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

    test("each field is valid exactly when the published schema accepts it", () => {
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
