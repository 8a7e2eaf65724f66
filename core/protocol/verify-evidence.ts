import { addressToBytes } from "../domain/address.ts";
import { decodeBase64, encodeBase64Url } from "../domain/base64.ts";
import { canonicalJsonBytes, type Json } from "../domain/canonical-json.ts";
import type { Escrow } from "../domain/escrow.ts";
import type { EvidenceCheck, EvidenceVerdict, TrustPolicy } from "../domain/evidence-check.ts";
import { evidenceDigest } from "../domain/evidence-signature.ts";
import { jwkThumbprint } from "../domain/jwk.ts";
import { attestationMessage } from "./attestation.ts";
import { decodeEscrowAccount } from "./escrow-account.ts";
import { evidenceData } from "./evidence-data.ts";
import { type ParsedPacket, parseEvidencePacket } from "./evidence-packet.ts";
import { ledgerChecks, type LedgerWitness } from "./verify-on-ledger.ts";
import { verifyEd25519 } from "./strict-ed25519.ts";

const check = (name: string, holds: boolean, passed: string, failed: string): EvidenceCheck => ({
  name,
  outcome: holds ? "passed" : "failed",
  reason: holds ? passed : failed,
});

const sameJson = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === undefined || b === undefined) return false;
  const [x, y] = [canonicalJsonBytes(a), canonicalJsonBytes(b)];
  return x.length === y.length && x.every((byte, i) => byte === y[i]);
};

/** The service's signature, by a key of the policy's, or by the packet's own where there is no policy. */
const signatureChecks = (
  packet: ParsedPacket,
  trust: TrustPolicy | null,
): ReadonlyArray<EvidenceCheck> => {
  const { digest, signedBytes } = evidenceDigest(packet.data);
  const { keyId, publicKey, signature } = packet.signature;
  const digestCheck = check(
    "digest",
    digest === packet.signature.digest,
    "the digest is that of the packet's data",
    "the digest is not that of the packet's data",
  );
  if (keyId === null || publicKey === null || signature === null)
    return [
      digestCheck,
      {
        name: "service_signature",
        outcome: trust === null ? "not_applicable" : "failed",
        reason: "the packet is unsigned",
      },
    ];
  const signatureCheck = check(
    "service_signature",
    jwkThumbprint(publicKey) === keyId && verifyEd25519(signature, signedBytes, publicKey),
    "the service's signature verifies under the key the packet names",
    "the service's signature does not verify under the key the packet names",
  );
  if (trust === null) return [digestCheck, signatureCheck];
  const known = trust.keys.find(({ kid, x }) => kid === keyId && x === encodeBase64Url(publicKey));
  const keyCheck: EvidenceCheck =
    known === undefined
      ? { name: "service_key", outcome: "failed", reason: "the key is not in the trust policy" }
      : check(
          "service_key",
          known.status !== "revoked",
          `the key is in the trust policy, ${known.status}`,
          "the key is revoked",
        );
  return [digestCheck, signatureCheck, keyCheck];
};

const attestationCheck = (escrow: Escrow): EvidenceCheck => {
  const { attestation } = escrow;
  if (attestation === null)
    return {
      name: "attestation_signature",
      outcome: "not_applicable",
      reason: "nothing was attested for this escrow",
    };
  const message = attestationMessage({
    escrow: escrow.address,
    proofHash: attestation.proofHash,
    timestamp: attestation.attestedAt,
    ...(escrow.state === "PartiallyFulfilled" ? { partialAmount: escrow.released } : {}),
  });
  const signature = decodeBase64(attestation.signature) ?? new Uint8Array(64);
  return check(
    "attestation_signature",
    verifyEd25519(signature, message, addressToBytes(attestation.attestor)),
    "the attestor's signature verifies over the recomputed message",
    "the attestor's signature does not verify over the recomputed message",
  );
};

/** Everything that follows from the escrow account's bytes. */
const accountChecks = (packet: ParsedPacket): ReadonlyArray<EvidenceCheck> => {
  const { network, account, escrowAddress, asOf, data } = packet;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded) {
    const misplaced = decoded.fault === "address_not_derived";
    const bytes = check(
      "account_bytes",
      misplaced,
      "the account bytes are a well-formed escrow",
      `the account bytes are no escrow: ${decoded.fault}`,
    );
    const place = "the escrow's address is not the one its own fields derive";
    return misplaced ? [bytes, check("escrow_address", false, "", place)] : [bytes];
  }
  const escrow = decoded.value;
  const pending = escrow.state === "Pending";
  const rebuilt: { readonly [member: string]: Json } = evidenceData({
    network,
    escrow,
    account,
    slot: asOf?.slot ?? 0n,
    ledgerTime: asOf?.ledgerTime ?? 0n,
  });
  const agrees = (...members: ReadonlyArray<string>) =>
    members.every((member) => sameJson(data[member], rebuilt[member]));
  return [
    check("account_bytes", true, "the account bytes are a well-formed escrow", ""),
    check("escrow_address", true, "the escrow's address is the one its own fields derive", ""),
    check(
      "escrow_fields",
      agrees("escrow", "purpose"),
      "the decoded fields are those of the account bytes",
      "the decoded fields differ from the account bytes",
    ),
    check(
      "delivery_claim",
      agrees("delivery_claim"),
      "the delivery claim is the one on record in the account",
      "the delivery claim differs from the account's record",
    ),
    attestationCheck(escrow),
    check(
      "settlement_decision",
      agrees("settlement_decision"),
      "the decision follows from the escrow's state",
      "the decision does not follow from the escrow's state",
    ),
    check(
      "as_of",
      pending === (asOf !== null) && agrees("as_of"),
      pending ? "a pending packet says when it was true" : "a settled packet needs no date",
      "a pending packet must say when it was true, and only a pending one",
    ),
  ];
};

const networkCheck = ({ network }: ParsedPacket, trust: TrustPolicy): EvidenceCheck =>
  check(
    "network",
    network.genesisHash === trust.genesisHash &&
      network.cluster === trust.cluster &&
      network.custodyProgram === trust.custodyProgram &&
      network.attestorProgram === trust.attestorProgram,
    "ledger and programs are those of the trust policy",
    "ledger or programs are not those of the trust policy",
  );

/** What only a look at the ledger can show; named in every verdict. */
const UNPROVEN: ReadonlyArray<EvidenceCheck> = [
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

/**
 * Checks an evidence packet, given as its JSON text, without any network: form, digest, service
 * signature, account bytes, address, decoded fields, attestation and decision, under a trust policy
 * obtained beforehand or, without one, as far as the packet alone allows. A `witness`, what a node of
 * the verifier's choice says, adds the checks that need the ledger.
 * See docs/protocol.md, "Evidence packet".
 */
export const verifyEvidence = (
  packetText: string,
  trust: TrustPolicy | null,
  witness?: LedgerWitness,
): EvidenceVerdict => {
  const parsed = parseEvidencePacket(packetText);
  if ("fault" in parsed)
    return { verdict: "failed", checks: [check("form", false, "", parsed.fault)] };
  const packet = parsed.value;
  const checks = [
    check("form", true, "the packet has exactly the members it must have", ""),
    ...signatureChecks(packet, trust),
    ...(trust === null ? [] : [networkCheck(packet, trust)]),
    ...accountChecks(packet),
    ...(witness === undefined ? UNPROVEN : witnessChecks(packet, witness)),
  ];
  const failed = checks.some(({ outcome }) => outcome === "failed");
  return { verdict: failed ? "failed" : trust === null ? "untrusted" : "verified", checks };
};
