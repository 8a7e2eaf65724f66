import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  EVIDENCE_CHECKS,
  verifyEvidence,
} from "../../../core/protocol/verification/verify-evidence.ts";
import type { EvidenceVerdict } from "../../../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { hasSolders, PYTHON } from "../../pays-once/clients.ts";
import type { Vector } from "./accepting-vectors.ts";
import type { PolicyVector } from "./policy-vectors.ts";
import { verifyIndependently } from "./independent-verifier.ts";
import { packetsInPython } from "./verifiers-in-python.ts";
import { vectorFiles } from "./vector-files.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");
const read = (name: string) => Bun.file(join(FOLDER, name)).text();

const accepting = JSON.parse(await read("accepting.json")) as ReadonlyArray<Vector>;
const rejecting = JSON.parse(await read("rejecting.json")) as ReadonlyArray<Vector>;
const policies = JSON.parse(await read("policies.json")) as ReadonlyArray<PolicyVector>;
const policyText = await read("trust.json");
const policy = new TextEncoder().encode(policyText);
const fulfilled = new TextEncoder().encode(await read("fulfilled.json"));
const parsed = parseTrustPolicy(policyText);
if ("fault" in parsed) throw new Error(parsed.fault);
const trust = parsed.value;

const bytesOf = (vector: Vector): Uint8Array =>
  "packet" in vector
    ? new TextEncoder().encode(vector.packet)
    : new Uint8Array(Buffer.from(vector.packet_base64, "base64"));

const documentOf = (vector: PolicyVector): Uint8Array =>
  "policy" in vector
    ? new TextEncoder().encode(vector.policy)
    : new Uint8Array(Buffer.from(vector.policy_base64, "base64"));

/** Whether `mint_value` passes; null when the verdict does not contain it or is `failed`. */
const mintListed = ({ verdict, checks }: EvidenceVerdict): boolean | null =>
  verdict === "failed" || verdict === "unsupported_version"
    ? null
    : checks.find(({ name }) => name === "mint_value")?.outcome === "passed";

const failedChecks = (packet: Uint8Array): ReadonlyArray<string> =>
  verifyEvidence(packet, trust)
    .checks.filter(({ outcome }) => outcome === "failed")
    .map(({ name }) => name);

describe("the vectors of test/vectors/evidence", () => {
  test("they equal the output of `bun test/conformance/evidence/vector-files.ts`, byte for byte", async () => {
    for (const [name, text] of vectorFiles())
      expect([name, await read(name)]).toEqual([name, text]);
  });

  test("names are unique, and every offline check rejects at least one packet", () => {
    for (const vectors of [[...accepting, ...rejecting], policies]) {
      const names = vectors.map(({ name }) => name);
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    }
    const failing = new Set(rejecting.flatMap(({ failed_checks }) => failed_checks));
    const offline = EVIDENCE_CHECKS.slice(0, EVIDENCE_CHECKS.indexOf("log_inclusion"));
    expect([...offline].filter((name) => !failing.has(name))).toEqual([]);
  });

  test("no two rejecting packets are equal, and none equals an accepting one", () => {
    const packets = [...accepting, ...rejecting].map((each) => JSON.stringify([...bytesOf(each)]));
    expect(new Set(packets).size).toBe(packets.length);
  });
});

describe.each([...accepting, ...rejecting].map((vector) => [vector.name, vector] as const))(
  "%s",
  (_, vector) => {
    const packet = bytesOf(vector);
    const isOther = vector.without_policy === "unsupported_version";
    const sound = isOther ? "unsupported_version" : "verified";
    const verdict = vector.failed_checks.length === 0 ? sound : "failed";

    test("the service's verifier reaches each vector's verdict", () => {
      expect(failedChecks(packet)).toEqual([...vector.failed_checks]);
      expect(verifyEvidence(packet, trust).verdict).toBe(verdict);
      expect(verifyEvidence(packet, null).verdict).toBe(vector.without_policy);
    });

    test("the independent verifier agrees", async () => {
      expect(await verifyIndependently(packet, policy)).toEqual({
        verdict,
        mintListed: mintListed(verifyEvidence(packet, trust)),
        witnessed: verdict === "verified" ? false : null,
      });
      expect((await verifyIndependently(packet, null)).verdict).toBe(vector.without_policy);
    });
  },
);

test.skipIf(!hasSolders())(
  `the verifier in Python agrees beyond the form; it needs solders for ${PYTHON} (examples/requirements.txt)`,
  () => {
    const judged = [...accepting, ...rejecting].flatMap((vector) =>
      "packet" in vector &&
      !vector.failed_checks.includes("form") &&
      vector.without_policy !== "unsupported_version"
        ? [vector]
        : [],
    );
    expect(judged.length).toBeGreaterThan(150);
    const firsts = packetsInPython(
      join(FOLDER, "trust.json"),
      judged.map(({ packet }) => packet),
    );
    for (const [at, { name, failed_checks }] of judged.entries())
      expect([name, failed_checks.length === 0 ? [null] : failed_checks]).toEqual([
        name,
        expect.arrayContaining([firsts[at]]),
      ]);
  },
);

describe.each(policies.map((vector) => [vector.name, vector] as const))(
  "policy: %s",
  (_, vector) => {
    const document = documentOf(vector);

    test("the service's verifier accepts or refuses the policy, and reaches the packet's verdict under it", () => {
      const read = parseTrustPolicy(document);
      const judged = "fault" in read ? null : verifyEvidence(fulfilled, read.value);
      expect(judged?.verdict ?? "refused").toBe(vector.verdict);
      expect(judged === null ? null : mintListed(judged)).toBe(vector.mint_listed);
      if ("policy" in vector) expect(parseTrustPolicy(vector.policy)).toEqual(read);
    });

    test("the independent verifier agrees", async () => {
      expect(await verifyIndependently(fulfilled, document)).toEqual({
        verdict: vector.verdict,
        mintListed: vector.mint_listed,
        witnessed: vector.mint_listed === null ? null : false,
      });
    });
  },
);
