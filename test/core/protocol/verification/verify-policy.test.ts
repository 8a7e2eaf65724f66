import { describe, expect, test } from "bun:test";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import { ed25519Jwk, evidenceDigest } from "../../../../core/domain/evidence/evidence-signature.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { ed25519Key, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { escrowIn, failedChecks, resigned, inner, type Packet } from "./judged-packet.ts";

describe("the trust policy decides", () => {
  const text = packetText(escrowIn("Fulfilled"));
  const [key] = TRUST.keys;
  if (key === undefined) throw new Error("no key");

  const withKeys = (...keys: TrustPolicy["keys"]) => failedChecks(text, { ...TRUST, keys });

  test("a retired key still verifies, a revoked or unknown one does not", () => {
    const other = { ...ed25519Jwk(ed25519Key(9).publicKey), status: "current" as const };
    expect(withKeys(key)).toEqual([]);
    expect(withKeys(other, { ...key, status: "retired" })).toEqual([]);
    expect(withKeys({ ...key, status: "revoked" })).toEqual(["service_key"]);
    expect(withKeys(other)).toEqual(["service_key"]);
    expect(withKeys()).toEqual(["service_key"]);
    expect(withKeys({ ...other, kid: key.kid })).toEqual(["service_key"]);
    const revoked = { ...key, status: "revoked" as const };
    expect(withKeys(key, revoked)).toEqual(["service_key"]);
    expect(withKeys(key, { ...revoked, x: other.x })).toEqual(["service_key"]);
    expect(withKeys(key, { ...revoked, kid: other.kid })).toEqual(["service_key"]);
  });

  test("another ledger, cluster or program is refused", () => {
    const other = "11111111111111111111111111111112";
    for (const name of ["genesisHash", "cluster", "custodyProgram", "attestorProgram"] as const) {
      expect(failedChecks(text, { ...TRUST, [name]: other })).toEqual(["network"]);
    }
  });

  test("a packet signed and named by a key outside the policy fails", () => {
    const packet = JSON.parse(text) as Packet;
    const stranger = ed25519Key(9);
    const { signedBytes } = evidenceDigest(packet.data);
    packet.signature["key_id"] = ed25519Jwk(stranger.publicKey).kid;
    packet.signature["public_key"] = encodeBase64(stranger.publicKey);
    packet.signature["signature"] = encodeBase64(stranger.sign(signedBytes));
    expect(failedChecks(JSON.stringify(packet))).toEqual(["service_key"]);
    packet.signature["key_id"] = key.kid;
    expect(failedChecks(JSON.stringify(packet))).toEqual(["service_signature", "service_key"]);
  });

  test("an unsigned packet fails under a policy and is untrusted without one", () => {
    const packet = JSON.parse(text) as Packet;
    const { signature } = packet;
    packet.signature = {
      ...signature,
      status: "unsigned",
      key_id: null,
      public_key: null,
      signature: null,
    };
    expect(failedChecks(JSON.stringify(packet))).toEqual(["service_signature"]);
    expect(verifyEvidence(JSON.stringify(packet), null).verdict).toBe("untrusted");
    packet.signature = { ...signature, status: "unsigned" };
    expect(failedChecks(JSON.stringify(packet), null)).toEqual(["form"]);
  });
});

describe("what is judged of a packet that fails early, without a node", () => {
  const outcomes = (text: string) => {
    const { checks } = verifyEvidence(text, TRUST);
    const found = Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
    const { ledger, account_on_ledger, attestor_is_the_merchants, mint_value } = found;
    return { ledger, account_on_ledger, attestor_is_the_merchants, mint_value };
  };
  const early = {
    ledger: "not_applicable",
    account_on_ledger: "unproven",
    attestor_is_the_merchants: "unproven",
    mint_value: "not_applicable",
  } as const;

  test("both points that need a node are unproven, and the mint is not judged", () => {
    const text = packetText(escrowIn("Fulfilled"));
    const elsewhere = packetText(escrowIn("Refunded"));
    const other = inner((JSON.parse(elsewhere) as Packet).data, "escrow")["escrow_pda"] ?? null;
    const noForm = "{}";
    const noAccount = resigned(text, (data) => void (inner(data, "account")["data_base64"] = ""));
    const noAddress = resigned(text, (data) => void (inner(data, "escrow")["escrow_pda"] = other));
    for (const packet of [noForm, noAccount, noAddress]) expect(outcomes(packet)).toEqual(early);
  });

  test("a Refunded packet names the attestor as unproven too", () => {
    expect(outcomes(packetText(escrowIn("Refunded")))).toMatchObject({
      attestor_is_the_merchants: "unproven",
    });
  });
});
