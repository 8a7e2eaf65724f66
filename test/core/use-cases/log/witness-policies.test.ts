import { expect, test } from "bun:test";
import { parseLogPolicy } from "../../../../core/log/policy/parse-log-policy.ts";
import { judgeQuorum } from "../../../../core/log/policy/quorum.ts";
import { printVerifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { askedPolicy, faultOfPolicies } from "../../../../core/use-cases/log/witness-policies.ts";
import { mlDsaKey } from "../../../conformance/evidence/log-world.ts";
import { testKey, TWINS } from "../../log/support/test-signer.ts";

const line = (name: string, seed: number): string =>
  `witness ${name} ${printVerifierKey(testKey(`${name}.example`, "cosignature", seed).key)} https://${name}.example/w\n`;

const policyOf = (text: string) => {
  const parsed = parseLogPolicy(text);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.value;
};

const onLedger = policyOf(
  `${line("a", 1)}${line("b", 2)}${line("c", 3)}group q 2 a b c\nquorum q\n`,
);
const appendOnly = policyOf(`${line("x", 4)}${line("y", 5)}group p any x y\nquorum p\n`);

test("the log asks all witnesses, publishes with the quorum of those that look at a ledger, and awaits the other", () => {
  const asked = askedPolicy({ onLedger, appendOnly });
  if (asked === null) throw new Error("nobody is asked");
  expect(asked.witnesses.map(({ name }) => name)).toEqual(["a", "b", "c", "x", "y"]);
  for (const [signed, isMet] of [
    [["a", "b"], true],
    [["x", "y"], false],
    [["a", "x", "y"], false],
    [["a", "c", "y"], true],
  ] as const)
    expect([signed, judgeQuorum(asked, signed).isMet]).toEqual([signed, isMet]);
  expect(asked.awaited).toBe("p");
});

test("one policy alone is asked as it is, and a quorum that is not wanted is not waited for", () => {
  expect(askedPolicy({ onLedger: null, appendOnly: null })).toBeNull();
  expect(askedPolicy({ onLedger, appendOnly: null })).toEqual(onLedger);
  expect(askedPolicy({ onLedger: null, appendOnly })).toEqual(appendOnly);
  const none = policyOf(`${line("x", 4)}quorum none\n`);
  expect(askedPolicy({ onLedger, appendOnly: none })).toMatchObject({ quorum: "q" });
  expect(askedPolicy({ onLedger, appendOnly: none })?.awaited).toBeUndefined();
  expect(
    askedPolicy({ onLedger: none, appendOnly: policyOf(`${line("y", 5)}quorum y\n`) }),
  ).toMatchObject({ quorum: "y" });
  expect(askedPolicy({ onLedger: none, appendOnly: null })?.quorum).toBeNull();
});

test("a witness of ML-DSA-44 is not asked", () => {
  const text = `witness pq ${mlDsaKey("pq.example", 1)} https://pq.example/w\nquorum none\n`;
  expect(askedPolicy({ onLedger: policyOf(text), appendOnly: null })?.witnesses).toMatchObject([
    { name: "pq", url: null },
  ]);
});

test("one key or one word in both is refused", () => {
  expect(faultOfPolicies({ onLedger, appendOnly })).toBeNull();
  expect(faultOfPolicies({ onLedger, appendOnly: null })).toBeNull();
  const [key] = onLedger.witnesses.map((each) => ({ ...each, name: "other" }));
  if (key === undefined) throw new Error("no witness");
  expect(faultOfPolicies({ onLedger, appendOnly: { ...appendOnly, witnesses: [key] } })).toBe(
    "the key of other stands in LOG_WITNESSES as well",
  );
  const words = policyOf(`${line("x", 4)}group q any x\nquorum q\n`);
  expect(faultOfPolicies({ onLedger, appendOnly: words })).toBe(
    "q is defined in LOG_WITNESSES as well",
  );
});

test("two keys of one name and one id, one in each, are refused: a line of one would be read as the other's", () => {
  const [one, other] = TWINS.map(({ key }, at) =>
    policyOf(`witness t${at} ${printVerifierKey(key)} https://t.example/w\nquorum t${at}\n`),
  );
  if (one === undefined || other === undefined) throw new Error("there are two");
  expect(faultOfPolicies({ onLedger: one, appendOnly: other })).toBe(
    "another key in LOG_WITNESSES is named twin.example/w+4ccc44d7, as that of t1 is",
  );
});
