import { expect, test } from "bun:test";
import { problemOfFailure } from "../../../../adapters/http/problems/failure-problem.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";

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
