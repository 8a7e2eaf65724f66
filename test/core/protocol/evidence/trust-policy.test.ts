import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { NO_PINS } from "../../../../core/domain/ledger/deployment.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { anyAttestedEscrow, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";

const fault = { fault: expect.any(String) as string };

type Document = { [member: string]: Json };
const [key] = TRUST.keys;
if (key === undefined) throw new Error("no key");
const jwk: Document = { kty: "OKP", crv: "Ed25519", alg: "Ed25519", use: "sig", ...key };

const document = (): Document => ({
  version: 2,
  jwks: { keys: [jwk] },
  genesis_hash: TRUST.genesisHash,
  cluster: TRUST.cluster,
  custody_program: TRUST.custodyProgram,
  attestor_program: TRUST.attestorProgram,
  supported_mints: TRUST.supportedMints.map((mint) => ({ ...mint })),
  log_on_ledger: null,
  log_append_only: null,
});
const parse = (value: Json) => parseTrustPolicy(JSON.stringify(value));
const keysOf = (...keys: ReadonlyArray<Json>) => parse({ ...document(), jwks: { keys } });
const withoutStatus = Object.fromEntries(Object.entries(jwk).filter(([name]) => name !== "status"));

describe("trust policy", () => {
  test("the published document is read, as text and as bytes", () => {
    const { kid, x, status } = key;
    const { genesisHash, cluster, custodyProgram, attestorProgram, supportedMints } = TRUST;
    const keys = [{ kid, x, status }];
    const text = JSON.stringify(document());
    const value = {
      keys,
      genesisHash,
      cluster,
      custodyProgram,
      attestorProgram,
      supportedMints,
      programPins: NO_PINS,
      logOnLedger: null,
      logAppendOnly: null,
    };
    expect(parseTrustPolicy(text)).toEqual({ value });
    expect(parseTrustPolicy(new TextEncoder().encode(text))).toEqual({ value });
  });

  test("a malformed revocation is a fault, because no key is current by default", () => {
    for (const status of ["current", "retired", "revoked"])
      expect(keysOf({ ...jwk, status })).toHaveProperty("value.keys.0.status", status);
    const wrong: ReadonlyArray<Json> = [
      withoutStatus,
      { ...withoutStatus, stauts: "revoked" },
      { ...jwk, revoked: true },
      ...["", "Revoked", "expired", null, 1].map((status) => ({ ...jwk, status })),
    ];
    for (const each of wrong) expect([each, keysOf(each)]).toEqual([each, fault]);
  });

  test("keys of other registered types are ignored, and a misspelt type is a fault", () => {
    const others: ReadonlyArray<Json> = [
      { kty: "EC", crv: "P-256", x: "", y: "" },
      { kty: "RSA", n: "", e: "AQAB", status: "revoked" },
      { kty: "OKP", crv: "X25519", x: 1 },
      { kty: "AKP", alg: "ML-DSA-44", pub: "" },
    ];
    expect(keysOf(...others, jwk)).toEqual(keysOf(jwk));
    const slips: ReadonlyArray<Json> = [
      { ...jwk, kty: "OPK" },
      { ...jwk, kty: "okp" },
      { ...jwk, kty: null },
      { ...jwk, crv: "ed25519" },
      { kty: "OKP" },
    ];
    for (const slip of slips) expect([slip, keysOf(jwk, slip)]).toEqual([slip, fault]);
  });

  test("one unusable key makes the document a fault and is not ignored", () => {
    const unusable: ReadonlyArray<Json> = [
      { ...jwk, kid: 1 },
      { ...jwk, kid: "another" },
      { ...jwk, x: null },
      { ...jwk, x: `${key.x}=` },
      { ...jwk, exp: -1 },
      { ...jwk, exp: null },
      null,
      "key",
      [],
    ];
    for (const other of unusable) expect([other, keysOf(jwk, other)]).toEqual([other, fault]);
  });

  test("a member that is missing, empty, unknown or of another kind is a fault", () => {
    for (const name of Object.keys(document())) {
      for (const value of ["", 3, null, [], {}, true]) {
        if (name.startsWith("log_") && value === null) continue;
        if (name === "supported_mints" && Array.isArray(value)) continue;
        const lie = { ...document(), [name]: value };
        expect([name, value, parse(lie)]).toEqual([name, value, fault]);
      }
      const lacking = document();
      delete lacking[name];
      expect([name, parse(lacking)]).toEqual([name, fault]);
    }
    expect(parse({ ...document(), note: "" })).toEqual(fault);
    expect(parseTrustPolicy('{"cluster":"a","cluster":"b"}')).toEqual(fault);
  });

  test("a document of another version gets the version fault only, whatever else it holds", () => {
    for (const version of [0, 1, 3, "2", null, 1.5]) {
      expect([version, parse({ ...document(), version, note: "" })]).toEqual([
        version,
        { fault: "the trust policy is of another version than 2, the one that is known" },
      ]);
    }
  });

  test("a log in the policy shows nothing for a packet without a proof, and the reasons say so", () => {
    const { value } = parse({ ...document(), log_on_ledger: "quorum none\n" }) as {
      value: TrustPolicy;
    };
    const [escrow] = fc.sample(anyAttestedEscrow, { numRuns: 1, seed: 3 });
    if (escrow === undefined) throw new Error("no sample");
    const { verdict, checks } = verifyEvidence(packetText(escrow), value);
    expect(verdict).toBe("verified");
    const open = ["log_inclusion", "witnessed_on_ledger", "account_on_ledger"];
    expect(checks.filter(({ name }) => open.includes(name))).toEqual([
      ...open.slice(0, 2).map((name) => ({
        name,
        outcome: "unproven" as const,
        reason: "the packet has no proof that a log holds its account",
      })),
      {
        name: "account_on_ledger",
        outcome: "unproven",
        reason: "no quorum of witnesses shows that the ledger has this account; ask a node",
      },
    ]);
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
