import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verifyEquivocation } from "../../../core/protocol/verification/verify-equivocation.ts";
import { hasSolders, PYTHON } from "../../pays-once/clients.ts";
import type { EquivocationVector } from "./equivocation-vectors.ts";
import { verifyEquivocationIndependently } from "./independent-equivocation.ts";
import { equivocationsInPython } from "./verifiers-in-python.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");
const VECTORS = join(FOLDER, "equivocations.json");
const TRUST = join(FOLDER, "trust.json");
const utf8 = (text: string) => new TextEncoder().encode(text);

const vectors = (await Bun.file(VECTORS).json()) as ReadonlyArray<EquivocationVector>;
const policyText = await Bun.file(TRUST).text();
const parsed = parseTrustPolicy(policyText);
if ("fault" in parsed) throw new Error(parsed.fault);
const trust = parsed.value;

describe.each(vectors.map((vector) => [vector.name, vector] as const))("%s", (_, vector) => {
  const { equivocation, failed_checks } = vector;
  const isConvicted = failed_checks.length === 0;

  test("the service's verifier fails exactly the check that it must", () => {
    const { verdict, checks } = verifyEquivocation(equivocation, trust);
    const failed = checks.flatMap(({ name, outcome }) => (outcome === "failed" ? [name] : []));
    expect([verdict, failed]).toEqual([isConvicted ? "verified" : "failed", [...failed_checks]]);
  });

  test("the independent verifier agrees, also without a policy", async () => {
    const file = utf8(equivocation);
    const failed = [...failed_checks];
    expect(await verifyEquivocationIndependently(file, utf8(policyText))).toEqual({
      verdict: isConvicted ? "verified" : "failed",
      failed,
    });
    const untrusted = isConvicted ? "untrusted" : "failed";
    expect((await verifyEquivocationIndependently(file, null)).verdict).toBe(untrusted);
    expect(verifyEquivocation(equivocation, null).verdict).toBe(untrusted);
  });
});

test.skipIf(!hasSolders())(
  `the verifier in Python agrees; it needs solders for ${PYTHON} (examples/requirements.txt)`,
  () => {
    expect(equivocationsInPython(TRUST, VECTORS)).toEqual(
      vectors.map(({ failed_checks }) => failed_checks),
    );
  },
);
