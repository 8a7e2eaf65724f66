import { expect, test } from "bun:test";
import {
  PROBLEM_CATALOGUE,
  PROBLEM_CODES,
} from "../../../../adapters/http/problems/problem-catalogue.ts";
import { problemOfFailure } from "../../../../adapters/http/problems/failure-problem.ts";
import { stateCure } from "../../../../adapters/http/problems/state-cure.ts";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import type { SettlementRule } from "../../../../core/domain/relay/settlement-rule.ts";
import { SettlementCheckFailed } from "../../../../core/use-cases/relay/relay-errors.ts";
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

test("a rule that the relay finds broken has the cure that prepare operations give for it", () => {
  const refused = (rule: SettlementRule) =>
    problemOfFailure(
      new SettlementCheckFailed({
        signature: "" as LedgerSignature,
        rule,
        instructionIndex: 0,
        detail: "something",
      }),
    ).cure;
  for (const rule of ["not_pending", "expired", "merchant_suspended"] as const)
    expect(refused(rule)).toBe(stateCure(rule));
  // Of the form of a transaction prepare operations say nothing.
  expect(refused("wrong_account_count")).toBe(PROBLEM_CATALOGUE.settlement_check_failed.cure);
});
