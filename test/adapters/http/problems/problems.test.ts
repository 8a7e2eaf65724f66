import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  SETTLEMENT_RULES,
  type SettlementRule,
} from "../../../../core/domain/relay/settlement-rule.ts";
import { STATE_RULES } from "../../../../core/use-cases/request-errors.ts";
import { problemOfFailure } from "../../../../adapters/http/problems/failure-problem.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import {
  PROBLEM_CATALOGUE,
  PROBLEM_CODES,
} from "../../../../adapters/http/problems/problem-catalogue.ts";
import { stateCure } from "../../../../adapters/http/problems/state-cure.ts";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import { SettlementCheckFailed } from "../../../../core/use-cases/relay/relay-errors.ts";
import { problemDocument } from "../../../../adapters/http/problems/problem.ts";

const DOCS = join(import.meta.dir, "../../../../docs");

/** The rules in the first column of a section's table of rules, sorted. */
const rulesUnder = (page: string, heading: string): ReadonlyArray<string> => {
  const text = readFileSync(join(DOCS, page), "utf8");
  const section = text.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const table = /^\| rule .*\n(?:\|.*\n)+/m.exec(section)?.[0] ?? "";
  const cells = table.split("\n").map((row) => row.split("|")[1] ?? "");
  return cells
    .flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, rule = ""]) => rule))
    .toSorted();
};

test.each([
  ["prepare.md", "Prepare operations", STATE_RULES],
  ["relay.md", "Checks against the ledger", SETTLEMENT_RULES],
])("%s lists every rule under %s, each once", (page, heading, rules) => {
  expect(rulesUnder(page, heading)).toEqual([...rules].toSorted());
});

const fault = {
  node: "https://node.example",
  method: "getMultipleAccounts",
  kind: "rate_limited",
  httpStatus: 429,
  rpcCode: null,
  retryAfterMs: 2_500,
  cure: "Ask the provider for a higher limit, or configure a second node.",
} as const;

test("a node's fault names method, code and cure, and nothing of its address", () => {
  const failure = new LedgerUnavailable({ retryable: true, cause: "x", fault });
  expect(problemOfFailure(failure)).toEqual({
    code: "ledger_unavailable",
    detail: "The ledger node gave no usable answer: getMultipleAccounts (rate limited, 429).",
    cure: fault.cure,
    headers: { "retry-after": "3" },
  });
  expect(problemOfFailure(new LedgerTimeout({ timeoutMs: 1, fault })).detail).not.toContain(
    "node.example",
  );
});

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

test("a store that has said what is wrong tells it and the cure, and one that has not does not answer", () => {
  const fault = { problem: "no space is left on its disk", cure: "Free space on its disk." };
  const told = (failure: StoreUnavailable) => problemOfFailure(failure);
  const failed = { retryable: true, cause: new Error("/var/lib: database or disk is full") };
  expect(told(new StoreUnavailable({ ...failed, fault }))).toMatchObject({
    code: "store_unavailable",
    detail: "The store cannot be used: no space is left on its disk.",
    cure: "Free space on its disk. Then ask again.",
  });
  expect(JSON.stringify(told(new StoreUnavailable({ ...failed, fault })))).not.toContain(
    "/var/lib",
  );
  expect(told(new StoreUnavailable(failed)).detail).toBe("The index cannot be reached.");
});
