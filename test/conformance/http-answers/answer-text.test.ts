import { expect, test } from "bun:test";
import fc from "fast-check";
import { foldedJson, sectionText } from "./answer-text.ts";
import { get } from "./exchange.ts";

test("JSON in short lines is the same value, with its members in the same order", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 60 }), (value, width) => {
      const parsed: unknown = JSON.parse(foldedJson(value, { width }));
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(value));
    }),
  );
  expect(foldedJson({ a: [1, { b: "cc" }], d: {} }, { width: 24 })).toBe(
    '{\n  "a": [1, {"b": "cc"}],\n  "d": {}\n}',
  );
});

test("a section names what an answer has beside the usual headers, otherwise than usual, or not at all", () => {
  const usual: ReadonlyArray<readonly [string, string]> = [
    ["access-control-allow-origin", "*"],
    ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
    ["cross-origin-resource-policy", "cross-origin"],
    ["referrer-policy", "no-referrer"],
    ["x-content-type-options", "nosniff"],
    ["x-request-id", "recorded"],
  ];
  const text = sectionText({
    exchange: get("readRoot", "a title", "/"),
    path: "/",
    requestHeaders: { "x-request-id": "another" },
    status: 204,
    headers: [
      ["allow", "GET"],
      ...usual.filter(([name]) => name !== "referrer-policy"),
      ["referrer-policy", "origin"],
    ],
    body: "",
  });
  expect(text).toBe(
    "### a title\n\n> GET /\n> x-request-id: another\n\n< 204\n< allow: GET\n< referrer-policy: origin\n< without access-control-expose-headers\n",
  );
});
