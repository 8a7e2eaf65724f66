import { createHash } from "node:crypto";
import { expect, test } from "bun:test";
import { type Layer, Redacted } from "effect";
import {
  evidenceSignerFromSeed,
  evidenceSignerNone,
} from "../../../../adapters/signer/evidence-signer.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import type { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { ed25519Key } from "../../../arbitraries/evidence.ts";
import { escrow, merchant } from "../support/parties.ts";
import { checkedClient, jsonOf, makeService } from "../support/service.ts";

const released = escrow("released", "Fulfilled");
const SEEDS = { first: 11, second: 12, third: 13 } as const;

const seedOf = (name: keyof typeof SEEDS) => new Uint8Array(32).fill(SEEDS[name]);
const publicOf = (name: keyof typeof SEEDS) =>
  Buffer.from(ed25519Key(SEEDS[name]).publicKey).toString("base64url");
const signingWith = (name: keyof typeof SEEDS, former: string | null = null) =>
  evidenceSignerFromSeed(Redacted.make(seedOf(name)), former);

/** The published keys, policy and packet of a service with this signer. The ledger is always the same. */
const published = async (signer: Layer.Layer<EvidenceSigner, unknown>) => {
  const service = await makeService({ signer });
  try {
    const client = await checkedClient(service);
    service.seed({ escrows: [released], merchants: [merchant()] });
    const textOf = async (path: string) => (await client.send(path)).text();
    const trust = await textOf("/.well-known/evidence-trust.json");
    const policy = parseTrustPolicy(trust);
    if ("fault" in policy) throw new Error(policy.fault);
    const { keys } = await jsonOf<{ keys: ReadonlyArray<Record<string, unknown>> }>(
      await client.send("/.well-known/jwks.json"),
    );
    expect((JSON.parse(trust) as { jwks: unknown }).jwks).toEqual({ keys });
    return {
      packet: await textOf(`/v1/evidence/${released.address}`),
      trust: policy.value,
      keys: keys.map(({ x, status, exp }) => ({
        x,
        status,
        ...(exp === undefined ? {} : { exp }),
      })),
      thumbprints: keys.map(({ kid, x }) => [kid, x]),
      log: JSON.stringify(service.lines),
    };
  } finally {
    await service.runtime.dispose();
  }
};

test("packets signed before a rotation verify after it, until their key is revoked", async () => {
  const ended = "2026-03-02T00:00:00Z";
  const exp = Date.parse(ended) / 1000;
  const before = await published(signingWith("first"));
  const rotated = await published(signingWith("second", `${publicOf("first")} retired ${ended}`));
  const revoked = await published(
    signingWith("third", `${publicOf("second")}, ${publicOf("first")} revoked ${ended}`),
  );

  expect(before.keys).toEqual([{ x: publicOf("first"), status: "current" }]);
  expect(rotated.keys).toEqual([
    { x: publicOf("second"), status: "current" },
    { x: publicOf("first"), status: "retired", exp },
  ]);
  expect(revoked.keys).toEqual([
    { x: publicOf("third"), status: "current" },
    { x: publicOf("second"), status: "retired" },
    { x: publicOf("first"), status: "revoked", exp },
  ]);

  const verdict = (of: typeof before, under: typeof before) =>
    verifyEvidence(of.packet, under.trust).verdict;
  expect([before, rotated, revoked].map((under) => verdict(before, under))).toEqual([
    "verified",
    "verified",
    "failed",
  ]);
  expect([before, rotated, revoked].map((under) => verdict(rotated, under))).toEqual([
    "failed",
    "verified",
    "verified",
  ]);
  expect(verdict(revoked, revoked)).toBe("verified");
  const failed = verifyEvidence(before.packet, revoked.trust).checks.filter(
    ({ outcome }) => outcome === "failed",
  );
  expect(failed.map(({ name, reason }) => [name, reason])).toEqual([
    ["service_key", "the trust policy revokes the key"],
  ]);
});

test("a rotation changes the signature but not the signed data", async () => {
  const [before, after] = await Promise.all([
    published(signingWith("first")),
    published(signingWith("second", publicOf("first"))),
  ]);
  const [one, two] = [before, after].map(
    ({ packet }) =>
      JSON.parse(packet) as { data: unknown; signature: { digest_sha256: string; key_id: string } },
  );
  expect(JSON.stringify(two?.data)).toBe(JSON.stringify(one?.data));
  expect(two?.signature.digest_sha256).toBe(one?.signature.digest_sha256 ?? "");
  expect(two?.signature.key_id).not.toBe(one?.signature.key_id ?? "");
});

test("key ids are RFC 7638 thumbprints", async () => {
  const { thumbprints } = await published(signingWith("second", publicOf("first")));
  for (const [kid, x] of thumbprints) {
    const required = `{"crv":"Ed25519","kty":"OKP","x":"${String(x)}"}`;
    expect(kid).toBe(createHash("sha256").update(required).digest("base64url"));
  }
});

test("a service without a key publishes former ones, and its packets say that they are unsigned", async () => {
  const { packet, trust, keys } = await published(evidenceSignerNone(publicOf("first")));
  expect(keys).toEqual([{ x: publicOf("first"), status: "retired" }]);
  expect(JSON.parse(packet)).toMatchObject({
    signature: { status: "unsigned", key_id: null, public_key: null, signature: null },
  });
  expect(verifyEvidence(packet, trust).verdict).toBe("failed");
  expect(verifyEvidence(packet, null).verdict).toBe("untrusted");
});

test("no form of a signing key is ever logged or answered", async () => {
  const { packet, log } = await published(signingWith("first"));
  const seed = Buffer.from(seedOf("first"));
  for (const form of [
    seed.toString("hex"),
    seed.toString("base64"),
    seed.toString("base64url"),
    [...seed].join(","),
  ])
    expect(`${log}${packet}`).not.toContain(form);
});
