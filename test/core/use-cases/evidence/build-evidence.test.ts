import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { evidenceRecord } from "../../../../adapters/http/evidence/evidence-contract.ts";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { canonicalText } from "../../domain/encoding/canonical-text.ts";
import { GOLDEN_ESCROWS } from "../escrow/golden-escrows.ts";
import { GOLDEN_MERCHANT_ACCOUNT, goldenPacket } from "./golden-packets.ts";

const VECTORS = join(import.meta.dir, "../../../vectors/evidence");
const golden = (name: string) => Bun.file(join(VECTORS, `${name}.json`)).text();

describe.each(GOLDEN_ESCROWS.map((each) => [each.name, each] as const))(
  "the golden packet of a %s escrow",
  (name, each) => {
    test("it equals what the account and the ledger's clock give now, byte for byte", async () => {
      const packet = evidenceRecord(goldenPacket(each));
      expect(`${JSON.stringify(packet, null, 2)}\n`).toBe(await golden(name));
    });

    test("it verifies under the trust policy beside it", async () => {
      const policy = parseTrustPolicy(await golden("trust"));
      if ("fault" in policy) throw new Error(policy.fault);
      const { verdict, checks } = verifyEvidence(await golden(name), policy.value);
      expect(checks.filter(({ outcome }) => outcome === "failed")).toEqual([]);
      expect(verdict).toBe("verified");
    });

    test("node's own hash and OpenSSL's signature check agree, over a canonical form written by hand", async () => {
      const packet = JSON.parse(await golden(name)) as {
        readonly data: Json;
        readonly signature: { readonly [member: string]: string };
      };
      const { digest_sha256, public_key, signature, key_id } = packet.signature;
      const body = Buffer.from(canonicalText(packet.data));
      expect(digest_sha256).toBe(createHash("sha256").update(body).digest("hex"));
      const type = "application/vnd.settlement-evidence.v2+json";
      const signed = Buffer.concat([Buffer.from(`DSSEv1 43 ${type} ${body.length} `), body]);
      const x = Buffer.from(public_key ?? "", "base64").toString("base64url");
      const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
      expect(verify(null, signed, key, Buffer.from(signature ?? "", "base64"))).toBe(true);
      const required = canonicalText({ kty: "OKP", crv: "Ed25519", x });
      expect(key_id).toBe(createHash("sha256").update(required).digest("base64url"));
    });
  },
);

describe("evidence", () => {
  const settled = GOLDEN_ESCROWS.filter(({ escrow }) => escrow.state !== "Pending");

  test("a settled escrow's data does not depend on slot, clock, merchant or signer", () => {
    for (const each of settled) {
      const first = goldenPacket(each);
      const later = { ...each, ledgerTime: each.ledgerTime + 1_000_000n };
      const suspended = {
        ...GOLDEN_MERCHANT_ACCOUNT,
        status: "Suspended" as const,
        name: "Renamed",
      };
      const other = goldenPacket(later, { slot: 999_999_999n, merchant: suspended });
      expect(other.data).toEqual(first.data);
      expect(other.signature).toEqual(first.signature);
      expect(goldenPacket(each, { merchant: null }).data).toEqual(first.data);
      expect(goldenPacket(each, { signed: false }).data).toEqual(first.data);
    }
  });

  test("a merchant that cannot be read is null, outside of the signed data", () => {
    for (const each of GOLDEN_ESCROWS) {
      const without = goldenPacket(each, { merchant: null });
      expect(without.references.merchant).toBeNull();
      expect(without.signature).toEqual(goldenPacket(each).signature);
    }
  });

  test("transactions that the index lacks are named, outside of the signed data", () => {
    for (const each of GOLDEN_ESCROWS) {
      const known = goldenPacket(each);
      const kinds = known.references.transactions.map(({ kind }) => kind);
      expect(kinds).toHaveLength(each.escrow.state === "Pending" ? 1 : 2);
      expect(known.references.notFound).toEqual([]);
      for (const events of [[], null]) {
        const without = goldenPacket(each, { events, merchant: null });
        expect(without.references.transactions).toEqual([]);
        expect(without.references.notFound).toEqual(["merchant", ...kinds]);
        expect(without.signature).toEqual(known.signature);
      }
    }
  });

  test("without a key the packet says so and still has its digest", () => {
    for (const each of GOLDEN_ESCROWS) {
      const { signature } = goldenPacket(each, { signed: false });
      expect(signature).toEqual({
        status: "unsigned",
        digest_sha256: goldenPacket(each).signature.digest_sha256,
        algorithm: "ed25519",
        key_id: null,
        public_key: null,
        signature: null,
      });
    }
  });
});
