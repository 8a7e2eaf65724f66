import { encodeBase64Url } from "../../domain/encoding/base64.ts";
import { type Escrow, refundedAmount } from "../../domain/escrow/escrow.ts";
import {
  type EvidenceAmounts,
  type EvidenceCheck,
  type EvidenceVerdict,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { evidenceDigest, jwkThumbprint } from "../../domain/evidence/evidence-signature.ts";
import type { Decoded } from "../../domain/ledger/account.ts";
import { listedMint, type SupportedMint, usdcOf } from "../../domain/supported-mint.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import { verifyEd25519 } from "../crypto/strict-ed25519.ts";
import { EVIDENCE_VERSION } from "../evidence/evidence-data.ts";
import {
  otherVersion,
  type ParsedPacket,
  parseEvidencePacket,
} from "../evidence/evidence-packet.ts";
import { accountChecks, ledgerPoints } from "./verify-account.ts";
import { type FreshLog, verifyFreshLog } from "./verify-fresh-log.ts";
import { verifyInLog } from "./verify-in-log.ts";
import type { LedgerWitness } from "./verify-on-ledger.ts";

const listedIn = (escrow: Escrow, trust: TrustPolicy | null): SupportedMint | undefined =>
  listedMint(trust?.supportedMints ?? [], escrow.mint);

/**
 * Check `mint_value`: whether the policy lists the mint that was paid in. It never fails, because a payment in a
 * worthless token is still a payment. It is `unproven` for a mint that is not listed.
 */
const mintValueCheck = (escrow: Escrow, trust: TrustPolicy | null): EvidenceCheck => {
  const listed = listedIn(escrow, trust);
  return listed === undefined
    ? {
        name: "mint_value",
        outcome: "unproven",
        reason: `${trust === null ? "no trust policy was given that lists the mint" : "the trust policy does not list the mint"}: anybody can make one, and its units may be worth nothing`,
      }
    : {
        name: "mint_value",
        outcome: "passed",
        reason: `the trust policy lists the mint as ${listed.symbol}, with ${listed.decimals} decimals`,
      };
};

/** What was paid in an escrow, in base units and by the policy's list of mints. */
const evidenceAmounts = (escrow: Escrow, trust: TrustPolicy | null): EvidenceAmounts => {
  const listed = listedIn(escrow, trust);
  const refunded = refundedAmount(escrow);
  return {
    mint: escrow.mint,
    mint_supported: listed !== undefined,
    symbol: listed?.symbol ?? null,
    amount_stroops: escrow.amount.toString(),
    released_stroops: escrow.released.toString(),
    refunded_stroops: refunded.toString(),
    amount_usdc: usdcOf(escrow.amount, listed),
    released_usdc: usdcOf(escrow.released, listed),
    refunded_usdc: usdcOf(refunded, listed),
  };
};

/**
 * Check `service_key`. One entry that revokes the key, by key or by id, outweighs any other: a
 * policy put together from several sources must not bring a revoked key back.
 */
const keyCheck = (keyId: string, publicKey: Uint8Array, trust: TrustPolicy): EvidenceCheck => {
  const x = encodeBase64Url(publicKey);
  const revoked = trust.keys.some(
    (key) => key.status === "revoked" && (key.kid === keyId || key.x === x),
  );
  const known = trust.keys.find((key) => key.kid === keyId && key.x === x);
  return passedOrFailed(
    "service_key",
    !revoked && known !== undefined,
    `the key is in the trust policy, ${known?.status}`,
    revoked ? "the trust policy revokes the key" : "the key is not in the trust policy",
  );
};

/**
 * The service's signature, under a key of the policy, or under the packet's own key when there is no policy:
 * checks `digest`, `service_signature` and `service_key`. See docs/verify-evidence.md, "The checks, in order".
 */
const signatureChecks = (
  packet: ParsedPacket,
  trust: TrustPolicy | null,
): ReadonlyArray<EvidenceCheck> => {
  const { digest, signedBytes } = evidenceDigest(packet.data);
  const { keyId, publicKey, signature } = packet.signature;
  const digestCheck = passedOrFailed(
    "digest",
    digest === packet.signature.digest,
    "the digest is that of the packet's data",
    "the digest is not that of the packet's data",
  );
  if (keyId === null || publicKey === null || signature === null) {
    const outcome = trust === null ? "not_applicable" : "failed";
    const reason = "the packet is unsigned";
    return [
      digestCheck,
      { name: "service_signature", outcome, reason },
      { name: "service_key", outcome: "not_applicable", reason },
    ];
  }
  return [
    digestCheck,
    passedOrFailed(
      "service_signature",
      jwkThumbprint(publicKey) === keyId && verifyEd25519(signature, signedBytes, publicKey),
      "the service's signature verifies under the key the packet names",
      "the service's signature does not verify under the key the packet names",
    ),
    ...(trust === null ? [] : [keyCheck(keyId, publicKey, trust)]),
  ];
};

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
  "log_inclusion",
  "witnessed_on_ledger",
  "witnessed_append_only",
  "log_consistency",
  "ledger",
  "account_on_ledger",
  "still_pending",
  "captured_on_ledger",
  "attestor_is_the_merchants",
  "event_number",
  "program_bytes",
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

/** What was asked, beside the packet and the policy: a node of the verifier's choice, and the log. */
type Asked = {
  readonly ledger: LedgerWitness | undefined;
  readonly log: FreshLog | undefined;
};

/** The checks that concern ledger and log. `decoded` is null for a packet of no form. */
const outerChecks = (
  packet: ParsedPacket | null,
  decoded: Decoded<Escrow> | null,
  trust: TrustPolicy | null,
  asked: Asked,
): ReadonlyArray<EvidenceCheck> => {
  const account =
    packet === null || decoded === null || "fault" in decoded
      ? null
      : {
          network: packet.network,
          escrow: decoded.value,
          data: packet.account.data,
          asOf: packet.asOf,
        };
  const inLog = account && verifyInLog(account, packet?.log ?? null, trust);
  const consistency =
    account === null || asked.log === undefined
      ? []
      : [verifyFreshLog(packet?.log ?? null, trust, asked.log)];
  return [
    ...(inLog?.checks ?? []),
    ...consistency,
    ...ledgerPoints(account, trust, inLog, asked.ledger, {
      reference: packet?.log ?? null,
      tiles: asked.log?.tiles ?? new Map(),
    }),
    ...(account === null ? [] : [mintValueCheck(account.escrow, trust)]),
  ];
};

const packetChecks = (
  packet: ParsedPacket,
  decoded: Decoded<Escrow>,
  trust: TrustPolicy | null,
): ReadonlyArray<EvidenceCheck> => [
  passedOrFailed("form", true, "the packet has exactly the members it must have", ""),
  ...signatureChecks(packet, trust),
  ...(trust === null ? [] : [networkCheck(packet, trust)]),
  ...accountChecks(packet, decoded),
];

/** Why a check was not judged. */
const notJudged = (name: string, trust: TrustPolicy | null, asked: Asked): string => {
  if (trust === null && (name === "service_key" || name === "network"))
    return "no trust policy was given";
  return name === "log_consistency" && asked.log === undefined
    ? "the log was not asked"
    : "not judged, since an earlier check failed";
};

/** Every check by name. A check that was not judged gets the reason. */
const completed = (
  checks: ReadonlyArray<EvidenceCheck>,
  trust: TrustPolicy | null,
  asked: Asked,
): ReadonlyArray<EvidenceCheck> => {
  const found = new Map(checks.map((each) => [each.name, each]));
  return EVIDENCE_CHECKS.map(
    (name) =>
      found.get(name) ?? { name, outcome: "not_applicable", reason: notJudged(name, trust, asked) },
  );
};

/** The verdict of a packet of another version: no check is made. */
const unsupported = (version: string): EvidenceVerdict => {
  const reason = `the packet is a ${version}; only ${EVIDENCE_VERSION} is checked here`;
  const checks = EVIDENCE_CHECKS.map((name) => ({
    name,
    outcome: "not_applicable" as const,
    reason,
  }));
  return { verdict: "unsupported_version", checks, amounts: null };
};

/**
 * Checks an evidence packet, given as its JSON text or bytes, without any network: form, digest, service
 * signature, account bytes, address, decoded fields, attestation, decision and the log's proof, under a trust policy
 * obtained beforehand or, without one, as far as the packet alone allows. A `witness`, what a node of
 * the verifier's choice says, and `log`, what the log serves at the time, add the checks that need them. Never throws.
 * See docs/verify-evidence.md, "The verdict".
 * @example
 * import { parseTrustPolicy, verifyEvidence } from "settlement-evidence/verify";
 *
 * const parsed = parseTrustPolicy(trust);
 * if ("fault" in parsed) throw new Error(parsed.fault);
 * verifyEvidence(packet, parsed.value).verdict; // => "verified"
 * verifyEvidence(packet, null).verdict; // => "untrusted"
 */
export const verifyEvidence = (
  packet: string | Uint8Array,
  trust: TrustPolicy | null,
  witness?: LedgerWitness,
  log?: FreshLog,
): EvidenceVerdict => {
  const asked: Asked = { ledger: witness, log };
  const parsed = parseEvidencePacket(packet);
  const other = "fault" in parsed ? otherVersion(packet) : null;
  if (other !== null) return unsupported(other);
  if ("fault" in parsed) {
    const wrong = passedOrFailed("form", false, "", parsed.fault);
    const checks = completed([wrong, ...outerChecks(null, null, trust, asked)], trust, asked);
    return { verdict: "failed", checks, amounts: null };
  }
  const { escrowAddress, account, network } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  const inner = packetChecks(parsed.value, decoded, trust);
  const outer = outerChecks(parsed.value, decoded, trust, asked);
  const checks = completed([...inner, ...outer], trust, asked);
  if ("fault" in decoded || checks.some(({ outcome }) => outcome === "failed"))
    return { verdict: "failed", checks, amounts: null };
  const verdict = trust === null ? "untrusted" : "verified";
  return { verdict, checks, amounts: evidenceAmounts(decoded.value, trust) };
};
