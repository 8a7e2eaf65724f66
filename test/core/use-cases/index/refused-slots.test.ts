import { expect, test } from "bun:test";
import { Exit } from "effect";
import {
  decodeOutcome,
  encodeOutcome,
  syncErrorOf,
  syncFailureCause,
} from "../../../../core/use-cases/index/sync/sync-failure.ts";
import { SlotBeyondReach } from "../../../../ports/index/index-news.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";

const told = {
  method: "getEpochInfo",
  detail: "slot 5 is more than 64 below 100, at which the index stands",
};
const refused = new SlotBeyondReach({ ...told, side: "behind" });

test("a refused slot is told to other replicas and threads as it is", () => {
  const decoded = decodeOutcome(encodeOutcome({ failure: refused }), "told by another");
  expect(decoded).toEqual({ failure: refused });
});

test("what a node did wrong is told to other replicas and threads as it is", () => {
  const fault = {
    node: "https://node.example",
    method: "getSlot",
    kind: "http_status",
    httpStatus: 503,
    rpcCode: null,
    retryAfterMs: null,
    cure: "Use another node.",
  };
  const failure = new LedgerUnavailable({ retryable: true, cause: "the node", fault });
  const decoded = decodeOutcome(encodeOutcome({ failure }), "told by another");
  expect(decoded).toMatchObject({ failure: { _tag: "LedgerUnavailable", retryable: true, fault } });
});

test("what is wrong with a store is told to other replicas and threads, and to the log with the cure", () => {
  const fault = { problem: "no space is left on its disk", cure: "Free space on its disk." };
  const failure = new StoreUnavailable({ retryable: true, cause: new Error("full"), fault });
  const decoded = decodeOutcome(encodeOutcome({ failure }), "told by another");
  expect(decoded).toMatchObject({ failure: { _tag: "StoreUnavailable", retryable: true, fault } });
  expect(syncFailureCause(failure)).toBe(
    "no space is left on its disk (full). Free space on its disk.",
  );
  const unknown = new StoreUnavailable({ retryable: true, cause: "no answer" });
  expect(syncFailureCause(unknown)).toBe("no answer");
  expect(decodeOutcome(encodeOutcome({ failure: unknown }), "told by another")).toEqual({
    failure: new StoreUnavailable({ retryable: true, cause: "told by another", fault: undefined }),
  });
});

test("the log names the method, the code, what is refused and the cure", () => {
  expect(syncFailureCause(refused)).toBe(
    `getEpochInfo: slot_beyond_reach: ${refused.detail}. ${refused.cure}`,
  );
});

test("the cures of a slot ahead and of one behind differ", () => {
  const ahead = new SlotBeyondReach({ ...told, side: "ahead" });
  expect(ahead.cure).toContain("clock");
  expect(refused.cure).toContain("caught up");
});

test("a slot that the nodes' pool refuses has the same code, another fault of a node has not", () => {
  const fault = {
    node: "https://node.example",
    method: "getEpochInfo",
    httpStatus: null,
    rpcCode: null,
    retryAfterMs: null,
    cure: "Use another node.",
  };
  const errorOf = (kind: string) =>
    syncErrorOf(
      Exit.fail(new LedgerUnavailable({ retryable: true, cause: kind, fault: { ...fault, kind } })),
    );
  expect(errorOf("slot_beyond_reach")).toBe("SlotBeyondReach");
  expect(errorOf("malformed")).toBe("LedgerUnavailable");
});
