import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { verifyIndependently } from "./independent-verifier.ts";
import type { LogVector } from "./logged-packets.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");
const vectors = (await Bun.file(
  join(FOLDER, "log-packets.json"),
).json()) as ReadonlyArray<LogVector>;
const document = (await Bun.file(join(FOLDER, "log-trust.json")).json()) as Readonly<
  Record<string, unknown>
>;
const withoutLog = await Bun.file(join(FOLDER, "trust.json")).text();

const policyText = (logs: LogVector["logs"]): string => JSON.stringify({ ...document, ...logs });

const policyOf = (text: string): TrustPolicy => {
  const parsed = parseTrustPolicy(text);
  if ("fault" in parsed) throw new Error(parsed.fault);
  return parsed.value;
};

const judged = (packet: string, policy: string | null) => {
  const { verdict, checks } = verifyEvidence(packet, policy === null ? null : policyOf(policy));
  const named = (outcome: string) =>
    checks.filter((each) => each.outcome === outcome).map(({ name }) => name);
  return { verdict, failed: named("failed"), unproven: named("unproven"), named };
};

test("names are unique, no two packets under one policy are equal, and each check of the log fails somewhere", () => {
  expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
  expect(new Set(vectors.map(({ packet, logs }) => policyText(logs) + packet)).size).toBe(
    vectors.length,
  );
  const failing = new Set(vectors.flatMap(({ failed_checks }) => failed_checks));
  expect([...failing].sort()).toEqual([
    "form",
    "log_inclusion",
    "witnessed_append_only",
    "witnessed_on_ledger",
  ]);
});

describe.each(vectors.map((vector) => [vector.name, vector] as const))("%s", (_, vector) => {
  const { packet, failed_checks, witnessed } = vector;
  const policy = policyText(vector.logs);
  const verdict = failed_checks.length === 0 ? "verified" : "failed";

  test("the service's verifier says what the vector says", () => {
    const { verdict: said, failed, unproven, named } = judged(packet, policy);
    expect([said, failed]).toEqual([verdict, [...failed_checks]]);
    if (witnessed === null) return;
    expect(unproven).toEqual([...vector.unproven]);
    expect(named("witnessed")).toEqual(
      witnessed ? ["account_on_ledger", "attestor_is_the_merchants"] : [],
    );
  });

  test("without a policy, or under one without a log, only the proof's form is judged", () => {
    const isFormed = !failed_checks.includes("form");
    expect(judged(packet, null).verdict).toBe(isFormed ? "untrusted" : "failed");
    const plain = judged(packet, withoutLog);
    expect(plain.verdict).toBe(isFormed ? "verified" : "failed");
    // What a session captured, only a node shows.
    expect(plain.unproven).toEqual([
      "account_on_ledger",
      ...vector.unproven.filter((name) => name === "captured_on_ledger"),
      "attestor_is_the_merchants",
    ]);
  });

  test("the independent verifier agrees", async () => {
    const bytes = new TextEncoder().encode(packet);
    const said = await verifyIndependently(bytes, new TextEncoder().encode(policy));
    expect(said).toEqual({ verdict, mintListed: verdict === "failed" ? null : true, witnessed });
  });
});

test("a witness too few: the reason names the quorum, who signed, and how many it wants", () => {
  const packet = vectors.find(({ name }) => name === "one-witness")?.packet ?? "";
  const { checks } = verifyEvidence(packet, policyOf(policyText(null)));
  expect(checks.find(({ name }) => name === "witnessed_on_ledger")?.reason).toBe(
    "quorum q wants 2 of [alpha, beta, gamma]; signed: alpha",
  );
});
