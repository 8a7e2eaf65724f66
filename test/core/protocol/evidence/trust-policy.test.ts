import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";

type Document = { [member: string]: Json };
const [key] = TRUST.keys;
if (key === undefined) throw new Error("no key");
const jwk: Document = { kty: "OKP", crv: "Ed25519", alg: "Ed25519", use: "sig", ...key };

const document = (): Document => ({
  jwks: { keys: [jwk] },
  genesis_hash: TRUST.genesisHash,
  cluster: TRUST.cluster,
  custody_program: TRUST.custodyProgram,
  attestor_program: TRUST.attestorProgram,
});
const parse = (value: Json) => parseTrustPolicy(JSON.stringify(value));
const keysOf = (...keys: ReadonlyArray<Json>) => parse({ ...document(), jwks: { keys } });

describe("trust policy", () => {
  test("the published document is read", () => {
    const { kid, x, status } = key;
    const { genesisHash, cluster, custodyProgram, attestorProgram } = TRUST;
    const keys = [{ kid, x, status }];
    expect(parse(document())).toEqual({
      value: { keys, genesisHash, cluster, custodyProgram, attestorProgram },
    });
  });

  test("a key's standing is current unless it says otherwise, and no unknown standing is taken", () => {
    for (const status of ["current", "retired", "revoked"]) {
      expect(keysOf({ ...jwk, status })).toHaveProperty("value.keys.0.status", status);
    }
    const { status, ...plain } = jwk;
    expect(status).toBe("current");
    expect(keysOf(plain)).toHaveProperty("value.keys.0.status", "current");
    for (const other of ["", "Revoked", "expired", null, 1]) {
      expect(keysOf({ ...jwk, status: other })).toHaveProperty("fault");
    }
  });

  test("one unusable key spoils the document, rather than being passed over", () => {
    const unusable: ReadonlyArray<Json> = [
      { ...jwk, kty: "EC" },
      { ...jwk, crv: "X25519" },
      { ...jwk, kid: 1 },
      { ...jwk, x: null },
      null,
      "key",
      [],
    ];
    for (const other of unusable) expect(keysOf(jwk, other)).toHaveProperty("fault");
  });

  test("a member that is missing, empty or of another kind is a fault", () => {
    for (const name of Object.keys(document())) {
      for (const value of ["", 1, null, [], {}, true]) {
        expect([name, parse({ ...document(), [name]: value })]).toEqual([
          name,
          { fault: expect.any(String) as string },
        ]);
      }
      const lacking = document();
      delete lacking[name];
      expect(parse(lacking)).toHaveProperty("fault");
    }
    expect(parseTrustPolicy('{"cluster":"a","cluster":"b"}')).toHaveProperty("fault");
  });

  test("any text is a policy or has a fault, and none throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(parseTrustPolicy(text)).toHaveProperty("fault");
      }),
      runs(200),
    );
  });
});
