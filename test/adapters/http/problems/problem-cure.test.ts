import { expect, test } from "bun:test";
import {
  PROBLEM_CATALOGUE,
  PROBLEM_CODES,
} from "../../../../adapters/http/problems/problem-catalogue.ts";
import { problemDocument } from "../../../../adapters/http/problems/problem.ts";

/** The most characters of a cure in an answer; a page may say more in its explanation. */
const MAX_CURE = 240;

const memberOf = (document: string): unknown =>
  (JSON.parse(document) as { readonly cure?: unknown }).cure;

test.each([...PROBLEM_CODES])("a problem %s carries the catalogue's cure", (code) => {
  const { cure } = PROBLEM_CATALOGUE[code];
  expect(memberOf(problemDocument({ code, detail: "Something." }, "id"))).toBe(cure);
  expect(cure.length).toBeLessThanOrEqual(MAX_CURE);
});

test("a cure of the occurrence replaces the catalogue's", () => {
  const problem = {
    code: "wrong_state",
    detail: "Something.",
    cure: "Send a fresh nonce.",
  } as const;
  expect(memberOf(problemDocument(problem, "id"))).toBe(problem.cure);
});
