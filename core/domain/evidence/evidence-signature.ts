import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../sha256.ts";
import { canonicalJsonBytes, type Json } from "../encoding/canonical-json.ts";
import { EVIDENCE_PAYLOAD_TYPE, preAuthenticationEncoding } from "./dsse.ts";

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
