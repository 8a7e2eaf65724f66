import {
  type EvidenceCheck,
  type EvidenceVerdict,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import type { Decoded } from "../../domain/ledger/account.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type ParsedPacket, parseEvidencePacket } from "./evidence-packet.ts";
import { evidenceAmounts, mintValueCheck } from "./mint-value.ts";
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
  "mint_value",
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

/** The checks that need the ledger, as a verdict lists them when no node was asked. */
const withoutWitness = (trust: TrustPolicy | null): ReadonlyArray<EvidenceCheck> => [
  { name: "ledger", outcome: "not_applicable", reason: "no node of the ledger was asked" },
  {
    name: "account_on_ledger",
    outcome: "unproven",
    reason:
      trust === null || trust.log === null
        ? "an offline check cannot show that the ledger has this account"
        : "the trust policy names a log, which this verifier does not read; ask a node",
  },
  {
    name: "attestor_is_the_merchants",
    outcome: "unproven",
    reason: "an offline check cannot show that the attestor key was the merchant's",
  },
];

const escrowChecks = (
  { network, account }: ParsedPacket,
  escrow: Escrow,
  trust: TrustPolicy | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => [
  ...(witness === undefined ? [] : ledgerChecks({ escrow, data: account.data, network }, witness)),
  mintValueCheck(escrow, trust),
];

const packetChecks = (
  packet: ParsedPacket,
  decoded: Decoded<Escrow>,
  trust: TrustPolicy | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => [
  passedOrFailed("form", true, "the packet has exactly the members it must have", ""),
  ...signatureChecks(packet, trust),
  ...(trust === null ? [] : [networkCheck(packet, trust)]),
  ...accountChecks(packet, decoded),
  ...("fault" in decoded ? [] : escrowChecks(packet, decoded.value, trust, witness)),
];

/** Every check by name. A check that was not judged gets the reason. */
const completed = (
  checks: ReadonlyArray<EvidenceCheck>,
  trust: TrustPolicy | null,
  witness: LedgerWitness | undefined,
): ReadonlyArray<EvidenceCheck> => {
  const found = new Map(
    [...(witness === undefined ? withoutWitness(trust) : []), ...checks].map((each) => [
      each.name,
      each,
    ]),
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
 * See docs/verify-evidence.md, "The verdict".
 */
export const verifyEvidence = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  witness?: LedgerWitness,
): EvidenceVerdict => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) {
    const checks = completed([passedOrFailed("form", false, "", parsed.fault)], trust, witness);
    return { verdict: "failed", checks, amounts: null };
  }
  const { escrowAddress, account, network } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  const checks = completed(packetChecks(parsed.value, decoded, trust, witness), trust, witness);
  if ("fault" in decoded || checks.some(({ outcome }) => outcome === "failed"))
    return { verdict: "failed", checks, amounts: null };
  const verdict = trust === null ? "untrusted" : "verified";
  return { verdict, checks, amounts: evidenceAmounts(decoded.value, trust) };
};
