import { createHash, createPublicKey, verify } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Effect } from "effect";
import type { Json } from "../../../core/domain/canonical-json.ts";
import { jwkThumbprint } from "../../../core/domain/jwk.ts";
import type { Merchant } from "../../../core/domain/merchant.ts";
import { merchantAddress } from "../../../core/protocol/addresses.ts";
import { encodeEscrowAccount } from "../../../core/protocol/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/local-deployment.ts";
import { encodeMerchantAccount } from "../../../core/protocol/merchant-account.ts";
import { parseTrustPolicy } from "../../../core/protocol/trust-policy.ts";
import { verifyEvidence } from "../../../core/protocol/verify-evidence.ts";
import { buildEvidence } from "../../../core/use-cases/build-evidence.ts";
import { EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { SERVICE_KEY } from "../../arbitraries/evidence.ts";
import { canonicalText } from "../domain/canonical-text.ts";
import { GOLDEN_ESCROWS, GOLDEN_MERCHANT } from "./golden-escrows.ts";
import { ledgerAccount, ledgerOfAccounts } from "./ledger-of-accounts.ts";
import { testInstance } from "./test-instance.ts";

const VECTORS = join(import.meta.dir, "../../vectors/evidence");
const golden = (name: string) => Bun.file(join(VECTORS, `${name}.json`)).text();

const signer = EvidenceSigner.of({
  current: {
    keyId: jwkThumbprint(SERVICE_KEY.publicKey),
    publicKey: SERVICE_KEY.publicKey,
    status: "current",
    endedAtMs: null,
  },
  former: [],
  sign: (message) => Effect.succeed(SERVICE_KEY.sign(message)),
});

const place = merchantAddress(LOCAL_DEPLOYMENT, GOLDEN_MERCHANT);
const merchant: Merchant = {
  ...place,
  wallet: GOLDEN_MERCHANT,
  name: "Example Quotes",
  status: "Active",
  attestor: GOLDEN_MERCHANT,
  previousAttestor: null,
  attestorSince: 1n,
  registeredAt: 1n,
  updatedAt: 1n,
  reputation: 3,
  slashes: 0,
  deliveries: 3n,
  partialDeliveries: 0n,
  volume: 9n,
};

type Golden = (typeof GOLDEN_ESCROWS)[number];

const build = (
  { escrow, ledgerTime }: Golden,
  options: {
    readonly slot?: bigint;
    readonly signed?: boolean;
    readonly merchant?: Merchant | null;
  } = {},
) => {
  const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
  const standing = options.merchant === undefined ? merchant : options.merchant;
  const accounts = [
    ledgerAccount(escrow.address, custodyProgram, encodeEscrowAccount(escrow)),
    ...(standing === null
      ? []
      : [ledgerAccount(standing.address, attestorProgram, encodeMerchantAccount(standing))]),
  ];
  const ledger = ledgerOfAccounts(accounts, { slot: options.slot ?? 412_345_678n, ledgerTime });
  return Effect.runSync(
    buildEvidence(escrow.address).pipe(
      Effect.provideService(Ledger, ledger),
      Effect.provideService(Instance, testInstance()),
      Effect.provideService(
        EvidenceSigner,
        options.signed === false ? EvidenceSigner.of({ ...signer, current: null }) : signer,
      ),
    ),
  );
};

describe.each(GOLDEN_ESCROWS.map((each) => [each.name, each] as const))(
  "the golden packet of a %s escrow",
  (name, each) => {
    test("it is what the account and the ledger's clock give today, byte for byte", async () => {
      const { data, signature, references } = build(each);
      const { merchant, observed } = references;
      const packet = {
        data,
        signature,
        references: {
          merchant: merchant && {
            name: merchant.name,
            status: merchant.status,
            current_attestor: merchant.currentAttestor,
          },
          observed: observed && { slot: Number(observed.slot), commitment: observed.commitment },
        },
      };
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
      const type = "application/vnd.settlement-evidence.v1+json";
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
      const first = build(each);
      const later = { ...each, ledgerTime: each.ledgerTime + 1_000_000n };
      const suspended = { ...merchant, status: "Suspended" as const, name: "Renamed" };
      const other = build(later, { slot: 999_999_999n, merchant: suspended });
      expect(other.data).toEqual(first.data);
      expect(other.signature).toEqual(first.signature);
      expect(build(each, { merchant: null }).data).toEqual(first.data);
      expect(build(each, { signed: false }).data).toEqual(first.data);
    }
  });

  test("a merchant that cannot be read is null, and stands outside of what is signed", () => {
    for (const each of GOLDEN_ESCROWS) {
      const without = build(each, { merchant: null });
      expect(without.references.merchant).toBeNull();
      expect(without.signature).toEqual(build(each).signature);
    }
  });

  test("without a key the packet says so and still carries its digest", () => {
    for (const each of GOLDEN_ESCROWS) {
      const { signature } = build(each, { signed: false });
      expect(signature).toEqual({
        status: "unsigned",
        digest_sha256: build(each).signature.digest_sha256,
        algorithm: "ed25519",
        key_id: null,
        public_key: null,
        signature: null,
      });
    }
  });
});
