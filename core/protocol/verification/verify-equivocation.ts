import {
  type EvidenceCheck,
  type EvidenceVerdict,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { contradictionOf, parseEquivocation } from "../calls/equivocation.ts";
import { isAttestationSigned } from "../calls/judge-call.ts";
import { sessionOfPacket } from "./verify-call.ts";
import { verifyEvidence } from "./verify-evidence.ts";

/** What convicts the attestor, by what two of its signatures contradict each other in. */
const CONVICTIONS = {
  two_histories: "the attestor signed two histories of one session",
  after_final: "the attestor signed something else after its final attestation",
} as const;

const failed = (...checks: ReadonlyArray<EvidenceCheck>): EvidenceVerdict => ({
  verdict: "failed",
  checks,
  amounts: null,
});

/**
 * Checks a file that says an attestor signed two things of one session that an honest one never signs both: the packet
 * as `verifyEvidence` does, then both signatures for its terms. `verified` means that the attestor is convicted. Needs
 * no network. Never throws. See docs/verify-evidence.md, "Evidence of a call".
 * @example
 * import { parseTrustPolicy, verifyEquivocation } from "settlement-evidence/verify";
 *
 * const parsed = parseTrustPolicy(trust);
 * if ("fault" in parsed) throw new Error(parsed.fault);
 * verifyEquivocation("{}", parsed.value).verdict; // => "failed"
 */
export const verifyEquivocation = (
  document: string | Uint8Array,
  trust: TrustPolicy | null,
): EvidenceVerdict => {
  const parsed = parseEquivocation(document);
  if ("fault" in parsed)
    return failed(passedOrFailed("equivocation_form", false, "", parsed.fault));
  const { packet, attestations } = parsed.value;
  const text = JSON.stringify(packet);
  const ofPacket = verifyEvidence(text, trust);
  const session = sessionOfPacket(text);
  if (session === null)
    return failed(
      ...ofPacket.checks,
      passedOrFailed("equivocation", false, "", "the packet is not that of a session"),
    );
  const areSigned = attestations.every((each) => isAttestationSigned(session.terms, each));
  const contradiction = contradictionOf(...attestations);
  const isConvicted = areSigned && contradiction !== undefined;
  const check = passedOrFailed(
    "equivocation",
    isConvicted,
    contradiction === undefined ? "" : CONVICTIONS[contradiction],
    areSigned
      ? "an honest attestor may have signed both"
      : "the escrow's attestor did not sign both for these terms",
  );
  const checks = [...ofPacket.checks, check];
  return isConvicted && (ofPacket.verdict === "verified" || ofPacket.verdict === "untrusted")
    ? { ...ofPacket, checks }
    : failed(...checks);
};
