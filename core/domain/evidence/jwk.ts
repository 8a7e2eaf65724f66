import { sha256 } from "../sha256.ts";
import { encodeBase64Url } from "../encoding/base64.ts";

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
