import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { encodeBase64Url } from "../encoding/base64.ts";
import { canonicalJsonBytes, type Json } from "../encoding/canonical-json.ts";
import { sha256 } from "../sha256.ts";

/** A public Ed25519 key as a JSON Web Key (RFC 8037, section 2; `alg` by RFC 9864, section 2.2). */
export type Ed25519Jwk = {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly alg: "Ed25519";
  readonly use: "sig";
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  /** 32 bytes, base64url. */
  readonly x: string;
};

/** The RFC 7638 SHA-256 thumbprint, base64url, of an Ed25519 public key of 32 bytes. */
export const jwkThumbprint = (publicKey: Uint8Array): string => {
  const required = `{"crv":"Ed25519","kty":"OKP","x":"${encodeBase64Url(publicKey)}"}`;
  return encodeBase64Url(sha256(new TextEncoder().encode(required)));
};

/** The JSON Web Key of an Ed25519 public key of 32 bytes. */
export const ed25519Jwk = (publicKey: Uint8Array): Ed25519Jwk => ({
  kty: "OKP",
  crv: "Ed25519",
  alg: "Ed25519",
  use: "sig",
  kid: jwkThumbprint(publicKey),
  x: encodeBase64Url(publicKey),
});

/** The payload type under which evidence packets are signed. */
export const EVIDENCE_PAYLOAD_TYPE = "application/vnd.settlement-evidence.v2+json";

/**
 * DSSE pre-authentication encoding (DSSE v1 protocol, "PAE"): `DSSEv1 SP len SP type SP len SP body`, with lengths in
 * bytes as decimal text. The signature covers the type too.
 */
export const preAuthenticationEncoding = (payloadType: string, body: Uint8Array): Uint8Array => {
  const utf8 = new TextEncoder();
  const type = utf8.encode(payloadType);
  return concatBytes(
    utf8.encode(`DSSEv1 ${type.length} `),
    type,
    utf8.encode(` ${body.length} `),
    body,
  );
};

/** The `signature` member of an evidence packet. */
export type EvidenceSignature = {
  readonly status: "signed" | "unsigned";
  /** SHA-256 of the RFC 8785 bytes of `data`, lower-case hex. */
  readonly digest_sha256: string;
  readonly algorithm: "ed25519";
  /** RFC 7638 thumbprint, null when unsigned. */
  readonly key_id: string | null;
  /** 32 bytes as base64, null when unsigned. Never trusted by itself. */
  readonly public_key: string | null;
  /** 64 bytes as base64, null when unsigned. */
  readonly signature: string | null;
};

/** The digest of a packet's `data` and the bytes that are signed for it. */
export const evidenceDigest = (
  data: Json,
): { readonly digest: string; readonly signedBytes: Uint8Array } => {
  const body = canonicalJsonBytes(data);
  return {
    digest: bytesToHex(sha256(body)),
    signedBytes: preAuthenticationEncoding(EVIDENCE_PAYLOAD_TYPE, body),
  };
};
