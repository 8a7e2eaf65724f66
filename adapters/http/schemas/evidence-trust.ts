import { Type } from "@sinclair/typebox";
import { Address, oneOf, record } from "../openapi/values.ts";

const JsonWebKey = record("JsonWebKey", "An Ed25519 key that signs or signed evidence.", {
  kty: Type.Literal("OKP"),
  crv: Type.Literal("Ed25519"),
  alg: Type.Literal("Ed25519"),
  use: Type.Literal("sig"),
  kid: Type.String({ description: "RFC 7638 thumbprint." }),
  x: Type.String({ description: "32 bytes, base64url." }),
  status: oneOf(["current", "retired", "revoked"], "Whether packets of it are to be believed."),
  exp: Type.Optional(
    Type.Integer({ description: "When it stopped being current, seconds since 1970." }),
  ),
});

/** A set of keys (RFC 7517, section 5). */
export const JsonWebKeySet = record("JsonWebKeySet", "The service's evidence keys.", {
  keys: Type.Array(JsonWebKey),
});

/** What a verifier of packets pins beforehand. */
export const EvidenceTrust = record("EvidenceTrust", "What a verifier pins beforehand.", {
  jwks: JsonWebKeySet,
  genesis_hash: Type.String(),
  cluster: Type.String(),
  custody_program: Address("The custody program."),
  attestor_program: Address("The attestor program."),
});
