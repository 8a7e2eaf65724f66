import { expect, test } from "bun:test";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";
import { printLogPolicy } from "../../../../core/log/policy/print-log-policy.ts";
import {
  groupOfPolicy,
  groupPolicy,
  majorityOf,
  withoutWitnesses,
  withWitness,
  type WitnessGroup,
} from "../../../../core/log/policy/witness-group.ts";
import { testKey } from "../support/test-signer.ts";

const witness = (name: string, seed: number, url = `https://${name}`) => ({
  name,
  key: testKey(name, "cosignature", seed).key,
  url,
});
const [A, B, C] = [witness("a", 1), witness("b", 2), witness("c", 3)];

const parsed = (text: string) => {
  const policy = parseLogPolicy(text);
  if ("fault" in policy) throw new Error(policy.fault);
  return policy.value;
};
const linesOf = (...witnesses: ReadonlyArray<typeof A>) =>
  printLogPolicy({ logs: [], witnesses, groups: [], quorum: null }).replace("quorum none\n", "");

test("more than half of a number is its majority", () => {
  expect([1, 2, 3, 4, 5].map(majorityOf)).toEqual([1, 2, 2, 3, 3]);
});

test("a group is begun with one witness, and grows with its majority", () => {
  const names = (group: WitnessGroup) => [
    group.threshold,
    ...group.witnesses.map(({ name }) => name),
  ];
  const one = withWitness(null, A);
  const two = withWitness(one, B);
  const three = withWitness(two, C);
  expect([one, two, three].map(names)).toEqual([
    [1, "a"],
    [2, "a", "b"],
    [2, "a", "b", "c"],
  ]);
  expect(names(withWitness(two, C, 3))).toEqual([3, "a", "b", "c"]);
  const moved = withWitness({ ...three, threshold: 3 }, { ...B, url: "https://new" });
  expect(moved.threshold).toBe(3);
  expect(moved.witnesses.map(({ url }) => url)).toEqual(["https://a", "https://new", "https://c"]);
});

test("a group without some witnesses wants more than half of those that stay, or the number that is given", () => {
  const three = { witnesses: [A, B, C], threshold: 3 };
  expect(withoutWitnesses(three, [B.key.publicKey])).toEqual({ witnesses: [A, C], threshold: 2 });
  expect(withoutWitnesses(three, [B.key.publicKey], 1)).toEqual({
    witnesses: [A, C],
    threshold: 1,
  });
  expect(withoutWitnesses(three, [])).toBe(three);
  expect(withoutWitnesses({ witnesses: [A], threshold: 1 }, [A.key.publicKey])).toBeNull();
});

test("the policy of a group is read as the same group", () => {
  const group = withWitness(withWitness(null, A), B);
  expect(groupOfPolicy(parsed(printLogPolicy(groupPolicy(group))))).toEqual(group);
  expect(groupOfPolicy(parsed(`${linesOf(A)}quorum a\n`))).toEqual(withWitness(null, A));
  expect(groupOfPolicy(parsed(`${linesOf(A, B)}group any-of any a b\nquorum any-of\n`))).toEqual({
    witnesses: [A, B],
    threshold: 1,
  });
});

test("any other policy is no group", () => {
  for (const end of [
    "quorum none\n",
    "quorum a\n",
    "group g 1 a\nquorum g\n",
    "group g 2 a b\nquorum a\n",
    "group g 1 a\ngroup h 2 g b\nquorum h\n",
  ])
    expect(groupOfPolicy(parsed(`${linesOf(A, B)}${end}`))).toBeNull();
});
