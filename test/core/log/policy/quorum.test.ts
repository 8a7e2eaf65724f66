import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LogPolicy, PolicyGroup } from "../../../../core/log/policy/log-policy.ts";
import { judgeQuorum } from "../../../../core/log/policy/quorum.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { testKey } from "../support/test-signer.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const witnesses = NAMES.map((name, i) => ({
  name,
  key: testKey(name, "cosignature", i + 1).key,
  url: null,
}));
const policy = (quorum: string | null, ...groups: ReadonlyArray<PolicyGroup>): LogPolicy => ({
  logs: [],
  witnesses,
  groups,
  quorum,
});

test("the reason names who is wanted and who signed", () => {
  const two = policy("X", { name: "X", threshold: 2, members: ["a", "b", "c"] });
  expect(judgeQuorum(two, ["a"])).toEqual({
    isMet: false,
    signed: ["a"],
    missing: ["b", "c"],
    reason: "quorum X wants 2 of [a, b, c]; signed: a",
  });
  expect(judgeQuorum(two, ["c", "a"])).toMatchObject({
    isMet: true,
    reason: "quorum X wants 2 of [a, b, c]; signed: a, c",
  });
  expect(judgeQuorum(two, [])).toMatchObject({
    isMet: false,
    reason: "quorum X wants 2 of [a, b, c]; signed: none",
  });
  expect(judgeQuorum(policy("a"), ["b"])).toMatchObject({
    isMet: false,
    reason: "quorum a wants 1 of [a]; signed: none",
  });
  expect(judgeQuorum(policy(null), [])).toMatchObject({ isMet: true });
});

test("names that are no witness of the policy count for nothing, not even a group's", () => {
  const inner = { name: "g", threshold: 1, members: ["a"] };
  const outer = { name: "X", threshold: 1, members: ["g", "b"] };
  expect(judgeQuorum(policy("X", inner, outer), ["g", "X", "z"]).isMet).toBe(false);
  expect(judgeQuorum(policy("X", inner, outer), ["a"])).toMatchObject({
    isMet: true,
    signed: ["g"],
  });
});

test("groups of groups are met as a recursive count says", () => {
  fc.assert(
    fc.property(
      fc.tuple(...NAMES.map(() => fc.nat(1))),
      fc.tuple(...NAMES.map(() => fc.nat(1))),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 2 }),
      (side, signed, k, m, outer) => {
        const left = NAMES.filter((_, i) => side[i] === 0);
        const right = NAMES.filter((_, i) => side[i] === 1);
        fc.pre(left.length > 0 && right.length > 0);
        const [p, q] = [Math.min(k, left.length), Math.min(m, right.length)];
        const signers = NAMES.filter((_, i) => signed[i] === 1);
        const count = (names: ReadonlyArray<string>) =>
          names.filter((name) => signers.includes(name)).length;
        const met = Number(count(left) >= p) + Number(count(right) >= q) >= outer;
        const verdict = judgeQuorum(
          policy(
            "top",
            { name: "left", threshold: p, members: left },
            { name: "right", threshold: q, members: right },
            { name: "top", threshold: outer, members: ["left", "right"] },
          ),
          signers,
        );
        expect(verdict.isMet).toBe(met);
        expect([...verdict.signed, ...verdict.missing].sort()).toEqual(["left", "right"]);
      },
    ),
    runs(200),
  );
});
