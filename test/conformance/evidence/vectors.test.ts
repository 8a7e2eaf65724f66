import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  EVIDENCE_CHECKS,
  verifyEvidence,
} from "../../../core/protocol/evidence/verify-evidence.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import type { Vector } from "./accepting-vectors.ts";
import { type Policy, verifyIndependently } from "./independent-verifier.ts";
import { vectorFiles } from "./vector-files.ts";

const FOLDER = join(import.meta.dir, "../../vectors/evidence");
const read = (name: string) => Bun.file(join(FOLDER, name)).text();

const accepting = JSON.parse(await read("accepting.json")) as ReadonlyArray<Vector>;
const rejecting = JSON.parse(await read("rejecting.json")) as ReadonlyArray<Vector>;
const policyText = await read("trust.json");
const policy = JSON.parse(policyText) as Policy;
const parsed = parseTrustPolicy(policyText);
if ("fault" in parsed) throw new Error(parsed.fault);
const trust = parsed.value;

const bytesOf = (vector: Vector): Uint8Array =>
  "packet" in vector
    ? new TextEncoder().encode(vector.packet)
    : new Uint8Array(Buffer.from(vector.packet_base64, "base64"));

const failedChecks = (packet: Uint8Array): ReadonlyArray<string> =>
  verifyEvidence(packet, trust)
    .checks.filter(({ outcome }) => outcome === "failed")
    .map(({ name }) => name);

describe("the vectors of test/vectors/evidence", () => {
  test("they equal the output of `bun test/conformance/evidence/write-vectors.ts`, byte for byte", async () => {
    for (const [name, text] of vectorFiles())
      expect([name, await read(name)]).toEqual([name, text]);
  });

  test("names are unique, and every offline check rejects some packet", () => {
    const names = [...accepting, ...rejecting].map(({ name }) => name);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    const failing = new Set(rejecting.flatMap(({ failed_checks }) => failed_checks));
    const offline = EVIDENCE_CHECKS.slice(0, EVIDENCE_CHECKS.indexOf("ledger"));
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
    const verdict = vector.failed_checks.length === 0 ? "verified" : "failed";

    test("the service's verifier reaches each vector's verdict", () => {
      expect(failedChecks(packet)).toEqual([...vector.failed_checks]);
      expect(verifyEvidence(packet, trust).verdict).toBe(verdict);
      expect(verifyEvidence(packet, null).verdict).toBe(vector.without_policy);
    });

    test("the independent verifier agrees", async () => {
      expect(await verifyIndependently(packet, policy)).toBe(verdict);
      expect(await verifyIndependently(packet, null)).toBe(vector.without_policy);
    });
  },
);
