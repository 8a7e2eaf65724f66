import { expect, test } from "bun:test";
import { createHash, createPublicKey } from "node:crypto";
import fc from "fast-check";
import { canonicalJsonBytes } from "../../../../core/domain/encoding/canonical-json.ts";
import { ed25519Jwk, jwkThumbprint } from "../../../../core/domain/evidence/evidence-signature.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

/** RFC 8037, appendix A.2 (the key) and A.3 (its thumbprint). */
const RFC_8037 = {
  x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  thumbprint: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
};

test("the thumbprint of RFC 8037's key is that of the RFC", () => {
  const publicKey = new Uint8Array(Buffer.from(RFC_8037.x, "base64url"));
  expect(jwkThumbprint(publicKey)).toBe(RFC_8037.thumbprint);
  expect(ed25519Jwk(publicKey)).toEqual({
    kty: "OKP",
    crv: "Ed25519",
    alg: "Ed25519",
    use: "sig",
    kid: RFC_8037.thumbprint,
    x: RFC_8037.x,
  });
});

test("the key id can be recomputed from the JWK, which Node reads as the same key", () => {
  fc.assert(
    fc.property(bytesOfLength(32), (publicKey) => {
      const { kid, crv, kty, x } = ed25519Jwk(publicKey);
      const required = canonicalJsonBytes({ crv, kty, x });
      expect(createHash("sha256").update(required).digest("base64url")).toBe(kid);
      const spki = createPublicKey({ key: { kty, crv, x }, format: "jwk" }).export({
        format: "der",
        type: "spki",
      });
      expect(Buffer.compare(spki.subarray(-32), publicKey)).toBe(0);
    }),
    runs(50),
  );
});
