import { encodeBase64Url } from "../../domain/encoding/base64.ts";
import {
  type EvidenceCheck,
  passedOrFailed,
  type TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { evidenceDigest } from "../../domain/evidence/evidence-signature.ts";
import { jwkThumbprint } from "../../domain/evidence/jwk.ts";
import type { ParsedPacket } from "../evidence/evidence-packet.ts";
import { verifyEd25519 } from "../crypto/strict-ed25519.ts";

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
 * checks `digest`, `service_signature` and `service_key`. See docs/protocol.md, "Evidence packet".
 */
export const signatureChecks = (
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
