import {
  type EvidenceCheck,
  type EvidenceVerdict,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import { type ParsedPacket, parseEvidencePacket } from "./evidence-packet.ts";
import { accountChecks } from "./verify-account.ts";
import { ledgerChecks, type LedgerWitness } from "./verify-on-ledger.ts";
import { signatureChecks } from "./verify-signature.ts";

/** Every check, in the order in which each verdict lists them. */
export const EVIDENCE_CHECKS = [
  "form",
  "digest",
  "service_signature",
  "service_key",
  "network",
  "account_bytes",
  "escrow_address",
  "escrow_fields",
  "delivery_claim",
  "attestation_signature",
  "settlement_decision",
  "as_of",
  "ledger",
  "account_on_ledger",
  "attestor_is_the_merchants",
] as const;

const networkCheck = ({ network }: ParsedPacket, trust: TrustPolicy): EvidenceCheck =>
  passedOrFailed(
    "network",
    network.genesisHash === trust.genesisHash &&
      network.cluster === trust.cluster &&
      network.custodyProgram === trust.custodyProgram &&
      network.attestorProgram === trust.attestorProgram,
    "ledger and programs are those of the trust policy",
    "ledger or programs are not those of the trust policy",
  );

/** What only a look at the ledger can show; named in every verdict without one. */
const WITHOUT_WITNESS: ReadonlyArray<EvidenceCheck> = [
  { name: "ledger", outcome: "not_applicable", reason: "no node of the ledger was asked" },
  {
    name: "account_on_ledger",
    outcome: "unproven",
    reason: "that the account really stands on the ledger, no offline check can show",
  },
  {
    name: "attestor_is_the_merchants",
    outcome: "unproven",
    reason: "that the attestor key was the merchant's, no offline check can show",
  },
];

const witnessChecks = (
  { network, account, escrowAddress }: ParsedPacket,
  witness: LedgerWitness,
): ReadonlyArray<EvidenceCheck> => {
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  return "fault" in decoded
    ? []
    : ledgerChecks({ escrow: decoded.value, data: account.data, network }, witness);
};

const packetChecks = (
  packet: ParsedPacket,
  trust: TrustPolicy | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => [
  passedOrFailed("form", true, "the packet has exactly the members it must have", ""),
  ...signatureChecks(packet, trust),
  ...(trust === null ? [] : [networkCheck(packet, trust)]),
  ...accountChecks(packet),
  ...(witness === undefined ? [] : witnessChecks(packet, witness)),
];

/** Every check by name: what was not judged says why. */
const completed = (
  checks: ReadonlyArray<EvidenceCheck>,
  trust: TrustPolicy | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => {
  const found = new Map(
    [...(witness === undefined ? WITHOUT_WITNESS : []), ...checks].map((each) => [each.name, each]),
  );
  return EVIDENCE_CHECKS.map(
    (name) =>
      found.get(name) ?? {
        name,
        outcome: "not_applicable",
        reason:
          trust === null && (name === "service_key" || name === "network")
            ? "no trust policy was given"
            : "not judged, since an earlier check failed",
      },
  );
};

/**
 * Checks an evidence packet, given as its JSON text or bytes, without any network: form, digest, service
 * signature, account bytes, address, decoded fields, attestation and decision, under a trust policy
 * obtained beforehand or, without one, as far as the packet alone allows. A `witness`, what a node of
 * the verifier's choice says, adds the checks that need the ledger. Never throws.
 * See docs/protocol.md, "Evidence packet".
 */
export const verifyEvidence = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  witness?: LedgerWitness,
): EvidenceVerdict => {
  const parsed = parseEvidencePacket(packet);
  const judged =
    "fault" in parsed
      ? [passedOrFailed("form", false, "", parsed.fault)]
      : packetChecks(parsed.value, trust, witness);
  const checks = completed(judged, trust, witness);
  const failed = checks.some(({ outcome }) => outcome === "failed");
  return { verdict: failed ? "failed" : trust === null ? "untrusted" : "verified", checks };
};
