import { expect, test } from "bun:test";
import fc from "fast-check";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { anyAttestedEscrow, packetText, TRUST } from "../../arbitraries/evidence.ts";
import { runs } from "../../arbitraries/runs.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { loggedEscrow, packetWithLog } from "./log-vectors.ts";
import { logPolicyText, logProofOf } from "./log-world.ts";
import { goldenDraft } from "./packet-edits.ts";
import { trustDocument } from "./policy-vectors.ts";
import { verifyIndependently } from "./independent-verifier.ts";

const POLICY = new TextEncoder().encode(JSON.stringify(trustDocument()));

const GOLDEN = ["pending", "fulfilled", "partially-fulfilled", "refunded"].map((name) =>
  new TextEncoder().encode(JSON.stringify(goldenDraft(name))),
);

/** Mulberry32, so that each run has the same flips. */
const sequence = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};

// 10,000 flips take two to three seconds. EVIDENCE_FLIPS sets another number.
const FLIPS = Number(process.env["EVIDENCE_FLIPS"] ?? "10000");

test(`none of ${FLIPS} packets with one changed byte in data or signature verifies`, () => {
  const random = sequence(26);
  const below = (count: number) => Math.floor(random() * count);
  for (let flip = 0; flip < FLIPS; flip++) {
    const packet = GOLDEN[flip % GOLDEN.length] ?? new Uint8Array();
    const end = Buffer.from(packet).indexOf('"references":{');
    const at = 1 + below(end - 1);
    const before = packet[at] ?? 0;
    // A byte of the packet itself often keeps the form that its place needs, such as a digit; any other byte rarely does.
    const other = flip % 8 < 4 ? before : (packet[below(packet.length)] ?? 0);
    const changed = packet.with(at, other === before ? before ^ (1 + below(255)) : other);
    const { verdict } = verifyEvidence(changed, TRUST);
    if (verdict !== "failed") throw new Error(`a flip at ${at} is ${verdict}`);
  }
}, 60_000);

// The log's flips verify three signatures each: 500 by default, 10,000 with EVIDENCE_LOG_FLIPS=10000.
const LOG_FLIPS = Number(process.env["EVIDENCE_LOG_FLIPS"] ?? "500");

test(`none of ${LOG_FLIPS} packets with one changed byte in the log's proof or its checkpoint verifies`, () => {
  const parsed = parseTrustPolicy(JSON.stringify({ ...trustDocument(), log: logPolicyText() }));
  if ("fault" in parsed) throw new Error(parsed.fault);
  const packets = ["fulfilled", "pending"].map((name) => {
    const escrow = loggedEscrow(name);
    return new TextEncoder().encode(packetWithLog(escrow, logProofOf(escrow)));
  });
  for (const packet of packets)
    expect(verifyEvidence(packet, parsed.value).verdict).toBe("verified");
  const random = sequence(27);
  const below = (count: number) => Math.floor(random() * count);
  for (let flip = 0; flip < LOG_FLIPS; flip++) {
    const packet = packets[flip % packets.length] ?? new Uint8Array();
    const start = Buffer.from(packet).indexOf('"proof":"') + '"proof":"'.length;
    const end = Buffer.from(packet).indexOf('"', start);
    const at = start + below(end - start);
    const changed = packet.with(at, (packet[at] ?? 0) ^ (1 + below(255)));
    const { verdict, checks } = verifyEvidence(changed, parsed.value);
    const isWitnessed = checks.some(({ outcome }) => outcome === "witnessed");
    if (verdict !== "failed" || isWitnessed) throw new Error(`a flip at ${at} is ${verdict}`);
  }
}, 600_000);

test("the two verifiers agree on packets of any escrow, whole or with one byte changed anywhere", async () => {
  const flip = fc.record({
    at: fc.nat(),
    mask: fc.integer({ min: 0, max: 255 }),
  });
  await fc.assert(
    fc.asyncProperty(
      anyAttestedEscrow,
      fc.array(flip, { minLength: 4, maxLength: 4 }),
      async (escrow, flips) => {
        const packet = new TextEncoder().encode(packetText(escrow));
        for (const { at, mask } of [{ at: 0, mask: 0 }, ...flips]) {
          const i = at % packet.length;
          const changed = packet.with(i, (packet[i] ?? 0) ^ mask);
          for (const [trust, policy] of [
            [TRUST, POLICY],
            [null, null],
          ] as const) {
            const { verdict } = verifyEvidence(changed, trust);
            expect((await verifyIndependently(changed, policy)).verdict).toBe(verdict);
          }
        }
      },
    ),
    runs(40),
  );
});
