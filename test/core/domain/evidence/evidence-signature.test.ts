import { describe, expect, test } from "bun:test";
import { createHash, createPublicKey } from "node:crypto";
import fc from "fast-check";
import { canonicalJsonBytes, type Json } from "../../../../core/domain/encoding/canonical-json.ts";
import {
  ed25519Jwk,
  EVIDENCE_PAYLOAD_TYPE,
  evidenceDigest,
  jwkThumbprint,
  preAuthenticationEncoding,
} from "../../../../core/domain/evidence/evidence-signature.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { canonicalText } from "../encoding/canonical-text.ts";

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("DSSE pre-authentication encoding", () => {
  // secure-systems-lab/dsse, protocol.md, "Test Vectors".
  test("the specification's own example", () => {
    const encoded = preAuthenticationEncoding("http://example.com/HelloWorld", utf8("hello world"));
    expect(new TextDecoder().decode(encoded)).toBe(
      "DSSEv1 29 http://example.com/HelloWorld 11 hello world",
    );
  });

  test("type and body can be read back, so no two pairs share one encoding", () => {
    const type = fc.string({ unit: anyCharacter, maxLength: 20 });
    fc.assert(
      fc.property(type, fc.uint8Array({ maxLength: 60 }), (type, body) => {
        const encoded = Buffer.from(preAuthenticationEncoding(type, body));
        let at = 0;
        const until = (): string => {
          const end = encoded.indexOf(" ", at);
          const word = encoded.toString("utf8", at, end);
          at = end + 1;
          return word;
        };
        expect(until()).toBe("DSSEv1");
        const typeLength = Number(until());
        expect(encoded.toString("utf8", at, at + typeLength)).toBe(type);
        at += typeLength;
        expect(encoded.toString("utf8", at, at + 1)).toBe(" ");
        at += 1;
        expect(Number(until())).toBe(body.length);
        expect(Buffer.compare(encoded.subarray(at), body)).toBe(0);
      }),
      runs(200),
    );
  });
});

describe("evidence digest", () => {
  test("it is SHA-256 of the canonical bytes, which are also the body that is signed", () => {
    const anyJson = fc.jsonValue({ stringUnit: anyCharacter }).map((value) => value as Json);
    fc.assert(
      fc.property(anyJson, (data) => {
        const body = utf8(canonicalText(data));
        const { digest, signedBytes } = evidenceDigest(data);
        expect(digest).toBe(createHash("sha256").update(body).digest("hex"));
        const head = `DSSEv1 43 application/vnd.settlement-evidence.v2+json ${body.length} `;
        expect(Buffer.compare(signedBytes, Buffer.concat([utf8(head), body]))).toBe(0);
      }),
      runs(100),
    );
    expect(EVIDENCE_PAYLOAD_TYPE).toHaveLength(43);
  });
});

describe("JSON Web Key", () => {
  test("RFC 8037's own thumbprint, appendix A.3", () => {
    const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    const publicKey = Uint8Array.from(Buffer.from(x, "base64url"));
    expect(jwkThumbprint(publicKey)).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    expect(ed25519Jwk(publicKey).x).toBe(x);
  });

  test("node imports every key, and exports the same members", async () => {
    await fc.assert(
      fc.asyncProperty(bytesOfLength(32), async (publicKey) => {
        const jwk = ed25519Jwk(publicKey);
        const imported = await crypto.subtle.importKey("jwk", jwk, "Ed25519", true, ["verify"]);
        const { kty, crv, x } = await crypto.subtle.exportKey("jwk", imported);
        expect(jwk).toMatchObject({ kty, crv, x });
        const canonical = canonicalText({ kty: "OKP", crv: "Ed25519", x: jwk.x });
        expect(jwk.kid).toBe(createHash("sha256").update(canonical).digest("base64url"));
      }),
      runs(30),
    );
  });
});

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
