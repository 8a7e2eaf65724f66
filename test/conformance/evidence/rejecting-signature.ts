import { address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { ed25519Jwk, evidenceDigest } from "../../../core/domain/evidence/evidence-signature.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { ed25519Key, NETWORK, SERVICE_KEY } from "../../arbitraries/evidence.ts";
import type { Vector } from "./accepting-vectors.ts";
import {
  type Draft,
  goldenDraft,
  goldenEscrow,
  invented,
  type PacketDraft,
  sign,
} from "./packet-edits.ts";
import { withVault } from "../../arbitraries/escrow-numbers.ts";
import { NEUTRAL, NEUTRAL_SIGNATURE, secondForm } from "./lax-ed25519.ts";
import { rejects } from "./rejects.ts";

/** The key that is revoked in trust.json. */
export const REVOKED_KEY = ed25519Key(4);
/** A key that is not in trust.json. */
export const STRANGER = ed25519Key(5);

const signatureEdited = (change: (signature: Draft, packet: PacketDraft) => void): string => {
  const packet = goldenDraft();
  change(packet.signature, packet);
  return JSON.stringify(packet);
};

const signedOver = (bytes: (packet: PacketDraft) => Uint8Array): string =>
  signatureEdited((signature, packet) => {
    signature["signature"] = encodeBase64(SERVICE_KEY.sign(bytes(packet)));
  });

/** Packets with a wrong digest, signature or key. */
export const signatureVectors = (): ReadonlyArray<Vector> => {
  const utf8 = new TextEncoder();
  const sigOf = (signature: Draft) =>
    new Uint8Array(Buffer.from(signature["signature"] as string, "base64"));
  const pae = (type: string, body: string) =>
    utf8.encode(`DSSEv1 ${type.length} ${type} ${utf8.encode(body).length} ${body}`);
  const bodyOf = ({ data }: PacketDraft): string => {
    const { signedBytes } = evidenceDigest(data);
    return new TextDecoder().decode(signedBytes).replace(/^DSSEv1 \S+ \S+ \d+ /, "");
  };
  const other = goldenDraft("refunded");
  return [
    rejects(
      "digest-of-another-packet",
      "the digest of another packet",
      "digest",
      signatureEdited((s) => void (s["digest_sha256"] = other.signature["digest_sha256"] ?? null)),
    ),
    rejects(
      "digest-upper-case",
      "the digest in capitals",
      "digest",
      signatureEdited(
        (s) => void (s["digest_sha256"] = (s["digest_sha256"] as string).toUpperCase()),
      ),
    ),
    rejects(
      "digest-empty",
      "an empty digest",
      "digest",
      signatureEdited((s) => void (s["digest_sha256"] = "")),
    ),
    rejects(
      "signature-of-another-packet",
      "the signature of another packet",
      "service_signature",
      signatureEdited((s) => void (s["signature"] = other.signature["signature"] ?? null)),
    ),
    rejects(
      "signature-bit-flipped",
      "one bit of the signature's R",
      "service_signature",
      signatureEdited(
        (s) => void (s["signature"] = encodeBase64(sigOf(s).with(3, (sigOf(s)[3] ?? 0) ^ 1))),
      ),
    ),
    rejects(
      "signature-s-plus-l",
      "S + L in place of S",
      "service_signature",
      signatureEdited((s) => void (s["signature"] = encodeBase64(secondForm(sigOf(s))))),
    ),
    rejects(
      "signed-without-envelope",
      "signed over the canonical bytes, without the DSSE envelope",
      "service_signature",
      signedOver((packet) => utf8.encode(bodyOf(packet))),
    ),
    rejects(
      "signed-over-digest",
      "signed over the digest's hex",
      "service_signature",
      signedOver(({ data }) => utf8.encode(evidenceDigest(data).digest)),
    ),
    rejects(
      "signed-as-another-type",
      "signed as another payload type",
      "service_signature",
      signedOver((packet) => pae("application/json", bodyOf(packet))),
    ),
    rejects(
      "signed-as-written",
      "signed over the data as it is written, not as RFC 8785 does",
      "service_signature",
      signedOver(({ data }) =>
        pae("application/vnd.settlement-evidence.v2+json", JSON.stringify(data)),
      ),
    ),
    rejects(
      "key-id-of-another-key",
      "the key id of the retired key",
      ["service_signature", "service_key"],
      signatureEdited((s) => void (s["key_id"] = ed25519Jwk(ed25519Key(3).publicKey).kid)),
    ),
    rejects(
      "small-order-key",
      "the neutral point as key, and the signature that fits anything under it",
      ["service_signature", "service_key"],
      signatureEdited((s) =>
        Object.assign(s, {
          key_id: ed25519Jwk(NEUTRAL).kid,
          public_key: encodeBase64(NEUTRAL),
          signature: encodeBase64(NEUTRAL_SIGNATURE),
        }),
      ),
    ),
    rejects(
      "signed-by-a-stranger",
      "signed by a key that is not in the policy, with that key inside",
      "service_key",
      JSON.stringify(sign(goldenDraft(), STRANGER)),
      "untrusted",
    ),
    rejects(
      "signed-under-a-revoked-key",
      "signed by a key that the policy revokes",
      "service_key",
      JSON.stringify(sign(goldenDraft(), REVOKED_KEY)),
      "untrusted",
    ),
    rejects(
      "unsigned",
      "not signed at all",
      "service_signature",
      signatureEdited((s) =>
        Object.assign(s, { status: "unsigned", key_id: null, public_key: null, signature: null }),
      ),
      "untrusted",
    ),
  ];
};

/** Packets of another ledger or other programs than the policy's. */
export const networkVectors = (): ReadonlyArray<Vector> => {
  const { escrow } = goldenEscrow("refunded");
  const other = address("EvidenceStranger111111111111111111111111111".slice(0, 43));
  const custody = { ...NETWORK, custodyProgram: other };
  const moved = withVault({
    ...escrow,
    ...escrowAddress(custody, escrow.agentOwner, escrow.taskHash),
  });
  const on = (name: string, why: string, packet: string) =>
    rejects(name, why, "network", packet, "untrusted");
  return [
    on(
      "another-genesis",
      "another ledger",
      invented(escrow, { network: { ...NETWORK, genesisHash: other } }),
    ),
    on(
      "another-cluster",
      "another cluster's name",
      invented(escrow, { network: { ...NETWORK, cluster: "devnet" } }),
    ),
    on(
      "another-custody-program",
      "another custody program, with all that follows from it",
      invented(moved, { network: custody }),
    ),
    on(
      "another-attestor-program",
      "another attestor program, with all that follows from it",
      invented(escrow, { network: { ...NETWORK, attestorProgram: other } }),
    ),
  ];
};
