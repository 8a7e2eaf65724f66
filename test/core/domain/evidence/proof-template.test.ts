import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import {
  PROOF_TEMPLATES,
  proofHash,
  proofTemplateSchema,
} from "../../../../core/domain/evidence/proof-template.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { canonicalText } from "../encoding/canonical-text.ts";

const url = (length: number): string => "https://".padEnd(length, "a");

const validatorOf = (template: (typeof PROOF_TEMPLATES)[number]) =>
  new Ajv2020({ strict: true, allErrors: true }).compile(proofTemplateSchema(template));

describe("proof templates", () => {
  test("ids are unique, API and data come first, and every category is there", () => {
    const ids = PROOF_TEMPLATES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toBe("api-delivered-v1");
    const wedges = PROOF_TEMPLATES.map(({ wedge }) => wedge === "api-data");
    expect(wedges).toEqual(wedges.toSorted((a, b) => Number(b) - Number(a)));
    const categories = new Set<string>(PROOF_TEMPLATES.map(({ category }) => category));
    expect([...categories].sort()).toEqual(["api", "commerce", "tickets", "travel"]);
  });

  test("the first has the fields that the contract names", () => {
    const names = PROOF_TEMPLATES[0]?.fields.map(({ name }) => name);
    expect(names?.sort()).toEqual([
      "content_sha256",
      "delivered_at",
      "merchant_statement",
      "network",
      "proof_template_id",
      "request_id",
      "request_url",
      "status_code",
      "task_hash",
    ]);
  });
});

test("every file beside the catalogue is in it under its name, with a template's members", async () => {
  const folder = join(import.meta.dir, "../../../../core/domain/evidence/proof-templates");
  const files = (await readdir(folder)).sort();
  expect(files).toEqual(PROOF_TEMPLATES.map(({ id }) => `${id}.json`).sort());
  const kinds = ["constant", "hash", "url", "http_status", "count", "time", "text"];
  for (const file of files) {
    const template = (await Bun.file(join(folder, file)).json()) as Record<string, Json>;
    expect(Object.keys(template)).toEqual([
      "id",
      "wedge",
      "category",
      "title",
      "description",
      "fields",
      "example",
    ]);
    for (const field of template["fields"] as unknown as ReadonlyArray<Record<string, Json>>) {
      const { type, value, ...rest } = field;
      expect(Object.keys(rest).sort()).toEqual(["description", "name", "required"]);
      expect(kinds).toContain(type as string);
      expect(typeof value).toBe(type === "constant" ? "string" : "undefined");
    }
  }
});

describe.each(PROOF_TEMPLATES.map((template) => [template.id, template] as const))(
  "%s",
  (id, template) => {
    const valid = validatorOf(template);
    const check = (name: string, values: ReadonlyArray<Json>, expected: boolean) => {
      for (const value of values)
        expect([value, valid({ ...template.example, [name]: value })]).toEqual([value, expected]);
    };

    test("its example meets its schema", () => {
      valid(template.example);
      expect(valid.errors).toBeNull();
    });

    test("its example's proof hash is SHA-256 of the canonical bytes", () => {
      const reference = createHash("sha256").update(canonicalText(template.example)).digest("hex");
      expect(proofHash(template.example) as string).toBe(reference);
    });

    test("every payload names its template and the task", () => {
      const named = template.fields.find(({ name }) => name === "proof_template_id");
      expect(named).toMatchObject({ type: "constant", value: id, required: true });
      const task = template.fields.find(({ name }) => name === "task_hash");
      expect(task).toMatchObject({ type: "hash", required: true });
      expect(valid({ ...template.example, proof_template_id: "another-v1" })).toBe(false);
    });

    test("an unknown member, a missing required one and a value of another kind are refused", () => {
      expect(valid({ ...template.example, extra: 1 })).toBe(false);
      for (const { name, required } of template.fields) {
        const lacking = Object.fromEntries(
          Object.entries(template.example).filter(([member]) => member !== name),
        );
        expect([name, valid(lacking)]).toEqual([name, !required]);
        for (const wrong of [null, {}, [], true, -1, "", 1.5]) {
          expect([name, wrong, valid({ ...template.example, [name]: wrong })]).toEqual([
            name,
            wrong,
            false,
          ]);
        }
      }
    });

    test("a time names a real month, day, hour, minute and second", () => {
      const times = template.fields.filter(({ type }) => type === "time").map(({ name }) => name);
      const wrong =
        "2026-13-01T00:00:00Z 2026-00-01T00:00:00Z 2026-01-32T00:00:00Z 2026-01-00T00:00:00Z";
      const more =
        "2026-01-01T24:00:00Z 2026-01-01T00:60:00Z 2026-01-01T00:00:60Z 2026-01-01T00:00:00";
      for (const name of times) {
        expect(valid({ ...template.example, [name]: "2028-02-29T23:59:59Z" })).toBe(true);
        for (const text of `${wrong} ${more}`.split(" "))
          expect([text, valid({ ...template.example, [name]: text })]).toEqual([text, false]);
      }
    });

    test("the ends of each range are inside it, and nothing beyond them", () => {
      const inside = {
        http_status: [100, 599],
        count: [0, 2 ** 53 - 1],
        text: ["a", "a".repeat(1024)],
      };
      const beyond = { http_status: [99, 600], count: [-1, 2 ** 53], text: ["", "a".repeat(1025)] };
      for (const { name, type } of template.fields) {
        if (type === "http_status" || type === "count" || type === "text") {
          check(name, inside[type], true);
          check(name, beyond[type], false);
        }
        if (type === "url") {
          check(name, [url(2048), "http://a"], true);
          check(name, [url(2049), "https://", "ftp://a", "https://a b", "javascript:a"], false);
        }
      }
    });

    test("every field is described, and the example uses no others", () => {
      const names = template.fields.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const { description } of template.fields) expect(description).toMatch(/^[A-Z].+\.$/);
      expect(Object.keys(template.example).filter((name) => !names.includes(name))).toEqual([]);
    });
  },
);

describe("proof hash", () => {
  test("any payload hashes as its canonical bytes, in any order of members", () => {
    const payload = fc
      .dictionary(
        fc.string({ unit: anyCharacter, maxLength: 8 }),
        fc.jsonValue({ stringUnit: anyCharacter }),
      )
      .map((value) => value as { readonly [key: string]: Json });
    fc.assert(
      fc.property(payload, (value) => {
        const reference = createHash("sha256").update(canonicalText(value)).digest("hex");
        expect(proofHash(value) as string).toBe(reference);
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(proofHash(reversed) as string).toBe(reference);
      }),
      runs(100),
    );
  });
});
