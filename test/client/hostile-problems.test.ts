import { expect, test } from "bun:test";
import { exitCodeOf } from "../../client/command-line/command-line.ts";
import { problemOf } from "../../client/service/requests.ts";
import { SettlementError } from "../../client/settlement-error.ts";

const problem = (code: string, detail = "No.") =>
  problemOf({
    status: 422,
    headers: new Headers(),
    text: JSON.stringify({ code, detail, cure: detail }),
  });

test.each([
  "constructor",
  "__proto__",
  "interrupted",
  "service_unreachable",
  "quorum_missing",
  "file_exists",
  "invalid_trust",
])(
  "a service's problem with the code %s ends a command with 1: it is no failure of the client's own",
  (code) => {
    expect(exitCodeOf(problem(code))).toBe(1);
  },
);

test("the client's own failures, and a service's refusal of the input, have their codes", () => {
  expect(exitCodeOf(new SettlementError("interrupted", "It was.", "Again."))).toBe(75);
  expect(exitCodeOf(new SettlementError("constructor", "It was.", "Again."))).toBe(1);
  expect(exitCodeOf(problem("validation_failed"))).toBe(64);
});

test("a problem's texts are cut where no service's end", () => {
  const { message, cure } = problem("not_found", "x".repeat(1_000_000));
  expect(message.length).toBeLessThan(5_000);
  expect(cure.length).toBeLessThan(5_000);
});
