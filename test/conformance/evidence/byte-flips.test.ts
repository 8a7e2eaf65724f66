import { expect, test } from "bun:test";
import fc from "fast-check";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { anyAttestedEscrow, packetText, TRUST } from "../../arbitraries/evidence.ts";
import { runs } from "../../arbitraries/runs.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { GOLDEN_ESCROWS } from "../../core/use-cases/escrow/golden-escrows.ts";
import { loggedEscrow, packetWithLog } from "./logged-packets.ts";
import { logPolicyText, logProofOf, WITNESSES } from "./log-world.ts";
import { goldenDraft } from "./packet-edits.ts";
import { trustDocument } from "./policy-vectors.ts";
import { verifyIndependently } from "./independent-verifier.ts";

const POLICY = new TextEncoder().encode(JSON.stringify(trustDocument()));

const GOLDEN = GOLDEN_ESCROWS.map(({ name }) =>
  new TextEncoder().encode(JSON.stringify(goldenDraft(name))),
);

const anyPlace = fc.noBias(fc.nat());
const otherBits = fc.noBias(fc.integer({ min: 1, max: 255 }));

// FC_NUM_RUNS=10000 tries more, and a failure prints its seed.
test("no packet with one changed byte in data or signature verifies", () => {
  const flip = fc.record({
    packet: fc.constantFrom(...GOLDEN),
    place: anyPlace,
    // A byte of the packet itself often keeps the form that its place needs, such as a digit; any other byte rarely
    // does.
    copied: fc.option(anyPlace, { freq: 1 }),
    bits: otherBits,
  });
  fc.assert(
    fc.property(flip, ({ packet, place, copied, bits }) => {
      const end = Buffer.from(packet).indexOf('"references":{');
      const at = 1 + (place % (end - 1));
      const before = packet[at] ?? 0;
      const other = copied === null ? before : (packet[copied % packet.length] ?? 0);
      const changed = packet.with(at, other === before ? before ^ bits : other);
      expect(verifyEvidence(changed, TRUST).verdict).toBe("failed");
    }),
    runs(1000),
  );
}, 600_000);

test("no packet with one changed byte in the log's proof or its checkpoint verifies, unless a cosignature is nobody's then", () => {
  const parsed = parseTrustPolicy(
    JSON.stringify({ ...trustDocument(), log_on_ledger: logPolicyText() }),
  );
  if ("fault" in parsed) throw new Error(parsed.fault);
  const packets = ["fulfilled", "pending"].map((name) => {
    const escrow = loggedEscrow(name);
    return new TextEncoder().encode(packetWithLog(escrow, logProofOf(escrow)));
  });
  for (const packet of packets)
    expect(verifyEvidence(packet, parsed.value).verdict).toBe("verified");
  const flip = fc.record({
    packet: fc.constantFrom(...packets),
    place: anyPlace,
    bits: otherBits,
  });
  fc.assert(
    fc.property(flip, ({ packet, place, bits }) => {
      const start = Buffer.from(packet).indexOf('"proof":"') + '"proof":"'.length;
      const end = Buffer.from(packet).indexOf('"', start);
      const at = start + (place % (end - start));
      const changed = packet.with(at, (packet[at] ?? 0) ^ bits);
      const { verdict, checks } = verifyEvidence(changed, parsed.value);
      // A changed name or id of a cosignature leaves one of a stranger, which counts for nothing.
      const isNobodys = checks.some(
        ({ name, outcome }) => name === "witnessed_on_ledger" && outcome === "unproven",
      );
      expect(verdict).toBe(isNobodys ? "verified" : "failed");
      if (isNobodys)
        expect(at).toBeGreaterThanOrEqual(Buffer.from(packet).indexOf(WITNESSES[0].key.name));
      expect(checks.some(({ outcome }) => outcome === "witnessed")).toBe(false);
    }),
    runs(500),
  );
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
