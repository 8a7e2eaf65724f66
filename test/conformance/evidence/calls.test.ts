import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verdictText } from "../../../core/domain/evidence/verdict-text.ts";
import { CALL_CHECKS, verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import { runs } from "../../arbitraries/runs.ts";
import type { CallVector } from "./made-calls.ts";
import { verifyCallIndependently } from "./independent-call.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");
const read = (name: string) => Bun.file(join(FOLDER, name)).text();
const utf8 = (text: string) => new TextEncoder().encode(text);

const vectors = JSON.parse(await read("calls.json")) as ReadonlyArray<CallVector>;
const policyText = await read("trust.json");
const policy = utf8(policyText);
const parsed = parseTrustPolicy(policyText);
if ("fault" in parsed) throw new Error(parsed.fault);
const trust = parsed.value;

/** The service's verdict, with the call's failed checks where its packet verifies, as the second verifier gives them. */
const judged = (call: string) => {
  const { verdict, checks, call: shown } = verifyCall(call, trust);
  const failed = checks.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
  const isOfCall = failed.every((name) => (CALL_CHECKS as ReadonlyArray<string>).includes(name));
  const isJudged = isOfCall && verdict !== "unsupported_version";
  return { verdict, failed: isJudged ? failed : null, settlement: shown?.settlement ?? null };
};

test("names and documents are unique, and every check of a call rejects one", () => {
  for (const all of [vectors.map(({ name }) => name), vectors.map(({ call }) => call)])
    expect(new Set(all).size).toBe(vectors.length);
  const failing = new Set(vectors.flatMap(({ failed_checks }) => failed_checks));
  expect([...failing].sort()).toEqual([...CALL_CHECKS].sort());
});

describe.each(vectors.map((vector) => [vector.name, vector] as const))("call: %s", (_, vector) => {
  const { call, failed_checks, settlement } = vector;
  const verdict = failed_checks.length === 0 ? "verified" : "failed";

  test("the service's verifier fails exactly the checks that it must", () => {
    expect(judged(call)).toEqual({ verdict, failed: [...failed_checks], settlement });
  });

  test("its verdict is told in words", () => {
    const result = verifyCall(call, trust);
    expect(verdictText(result, "none")).toEndWith(`${verdict}\n`);
  });

  test("the independent verifier agrees, also without a policy", async () => {
    const failed = [...failed_checks];
    expect(await verifyCallIndependently(utf8(call), policy)).toEqual({
      verdict,
      failed,
      settlement,
    });
    const untrusted = verdict === "verified" ? "untrusted" : "failed";
    expect((await verifyCallIndependently(utf8(call), null)).verdict).toBe(untrusted);
    expect(verifyCall(call, null).verdict).toBe(untrusted);
  });
});

test("both take a file of 131,072 bytes and none above, and name a packet of another version", async () => {
  const [first] = vectors;
  const call = first?.call ?? "";
  const other = call.replace("settlement-evidence-v2", "settlement-evidence-v3");
  for (const [text, verdict] of [
    [call.padEnd(131_072), "verified"],
    [call.padEnd(131_073), "failed"],
    [other, "unsupported_version"],
  ] as const) {
    expect(verifyCall(text, trust).verdict).toBe(verdict);
    expect((await verifyCallIndependently(utf8(text), policy)).verdict).toBe(verdict);
  }
});

type Forged = { readonly [name: string]: unknown };
const MEMBERS = [
  "packet",
  "voucher_base64",
  "intent",
  "order_path_base64",
  "delivered",
  "before",
  "attestation_base64",
  "payload",
];
const parts = vectors.flatMap(({ failed_checks, call }) =>
  failed_checks[0] === "call_form" ? [] : [JSON.parse(call) as Forged],
);

/** A text in base64 with one bit changed; every other value as it is. */
const withBit = (value: unknown, at: number): unknown => {
  if (typeof value !== "string" || value === "") return value;
  const bytes = Buffer.from(value, "base64");
  const index = at % bytes.length;
  bytes[index] = (bytes[index] ?? 0) ^ (1 << (at % 8));
  return bytes.toString("base64");
};

const forgery = fc.record({
  whole: fc.constantFrom(...parts),
  swaps: fc.array(fc.tuple(fc.constantFrom(...MEMBERS), fc.constantFrom(...parts)), {
    maxLength: 3,
  }),
  bit: fc.option(
    fc.tuple(
      fc.constantFrom("voucher_base64", "order_path_base64", "attestation_base64", "leaf"),
      fc.nat(),
    ),
  ),
  byte: fc.option(fc.tuple(fc.noBias(fc.nat()), fc.integer({ min: 1, max: 255 }))),
});

test("the two verifiers agree on forgeries: members of other calls, bits and bytes changed", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(forgery, async ({ whole, swaps, bit, byte }) => {
      const swapped: { [name: string]: unknown } = { ...whole };
      for (const [name, from] of swaps) swapped[name] = from[name];
      const [name, at] = bit ?? ["none", 0];
      const { delivered } = swapped as { delivered: { leaf_base64: string } };
      if (name === "leaf")
        swapped["delivered"] = { ...delivered, leaf_base64: withBit(delivered.leaf_base64, at) };
      else if (name !== "none") swapped[name] = withBit(swapped[name], at);
      const bytes = utf8(JSON.stringify(swapped));
      // A changed byte mostly spoils the packet or the form, so one forgery in two has none.
      if (byte !== null && byte[0] % 2 === 0) {
        const index = (byte[0] / 2) % bytes.length;
        bytes[index] = (bytes[index] ?? 0) ^ byte[1];
      }
      const { verdict, checks, call } = verifyCall(bytes, trust);
      const failed = checks.filter(({ outcome }) => outcome === "failed").map((each) => each.name);
      const second = await verifyCallIndependently(bytes, policy);
      expect([second.verdict, second.settlement]).toEqual([verdict, call?.settlement ?? null]);
      if (second.failed !== null) expect(second.failed).toEqual(failed);
      seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    }),
    { seed: 20_260_301, ...runs(1000) },
  );
  // Both of the usual verdicts are among them; a changed byte can also name another version.
  expect([...seen.keys()]).toEqual(expect.arrayContaining(["failed", "verified"]));
}, 600_000);
