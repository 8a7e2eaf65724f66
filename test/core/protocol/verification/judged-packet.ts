import fc from "fast-check";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import { evidenceDigest } from "../../../../core/domain/evidence/evidence-signature.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { anyAttestedEscrow, SERVICE_KEY, TRUST } from "../../../arbitraries/evidence.ts";

/** A JSON object of a packet. */
export type JsonObject = { [key: string]: Json };
/** A packet, parsed. */
export type Packet = { data: JsonObject; signature: JsonObject; references: JsonObject };

/** A made-up attested escrow in one of the states, always the same. */
export const escrowIn = (...states: ReadonlyArray<Escrow["state"]>): Escrow => {
  const [escrow] = fc.sample(
    anyAttestedEscrow.filter(({ state }) => states.includes(state)),
    { numRuns: 1, seed: 11 },
  );
  if (escrow === undefined) throw new Error("no sample");
  return escrow;
};

/** The names of the checks that a packet fails. */
export const failedChecks = (
  text: string,
  trust: TrustPolicy | null = TRUST,
): ReadonlyArray<string> =>
  verifyEvidence(text, trust)
    .checks.filter(({ outcome }) => outcome === "failed")
    .map(({ name }) => name);

/** The packet with changed data and a new digest and signature, as a lying service could make it. */
export const resigned = (text: string, change: (data: JsonObject) => void): string => {
  const packet = JSON.parse(text) as Packet;
  change(packet.data);
  const { digest, signedBytes } = evidenceDigest(packet.data);
  packet.signature["digest_sha256"] = digest;
  packet.signature["signature"] = encodeBase64(SERVICE_KEY.sign(signedBytes));
  return JSON.stringify(packet);
};

/** A member of a packet that is an object itself. */
export const inner = (data: JsonObject, name: string): JsonObject => data[name] as JsonObject;
