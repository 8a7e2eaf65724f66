import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Cause, Effect, Exit, type Layer, Redacted } from "effect";
import fc from "fast-check";
import {
  evidenceSignerFromFile,
  evidenceSignerFromSeed,
  evidenceSignerFromText,
  evidenceSignerGenerated,
  evidenceSignerNone,
  GENERATED_KEY_FILE,
} from "../../../adapters/signer/evidence-signer.ts";
import { encodeBase64, encodeBase64Url } from "../../../core/domain/encoding/base64.ts";
import { type EvidenceKeyUnusable, EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";
import { evidenceSignerContract } from "../../contracts/evidence-signer.ts";

const folder = mkdtempSync(join(tmpdir(), "evidence-signer-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const keyFile = (text: string, mode = 0o600) => {
  const path = join(folder, `key-${++files}`);
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
};

const seed = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
const publicKey = ed25519.getPublicKey(seed);
const base64 = encodeBase64(seed);
const keygen = JSON.stringify([...seed, ...publicKey]);
const x = encodeBase64Url(publicKey);
const otherX = encodeBase64Url(ed25519.getPublicKey(new Uint8Array(32).fill(9)));
const thirdX = encodeBase64Url(ed25519.getPublicKey(new Uint8Array(32).fill(8)));

type SignerLayer = Layer.Layer<EvidenceSigner, EvidenceKeyUnusable>;
const open = (layer: SignerLayer) =>
  Effect.runPromise(Effect.provide(EvidenceSigner.use(Effect.succeed), layer));
const refusal = (layer: SignerLayer) =>
  Effect.runPromise(Effect.flip(Effect.provide(EvidenceSigner.use(Effect.succeed), layer)));

evidenceSignerContract("evidenceSignerFromSeed", () => evidenceSignerFromSeed(Redacted.make(seed)));
const generatedDir = join(folder, "data");
evidenceSignerContract("evidenceSignerGenerated", () => evidenceSignerGenerated(generatedDir));

test("keys and signatures equal noble's for any seed and message", () =>
  fc.assert(
    fc.asyncProperty(bytesOfLength(32), fc.uint8Array(), async (seed, message) => {
      const signer = await open(evidenceSignerFromSeed(Redacted.make(seed)));
      expect(signer.current?.publicKey).toEqual(ed25519.getPublicKey(seed));
      expect(await Effect.runPromise(signer.sign(message))).toEqual(ed25519.sign(message, seed));
    }),
    runs(30),
  ));

test("each text form of a key gives the same key, from a file or from the environment", async () => {
  for (const text of [base64, `${base64}\n`, keygen, `${keygen}\n`, keygen.replaceAll(",", ", ")]) {
    for (const layer of [
      evidenceSignerFromText(Redacted.make(text)),
      evidenceSignerFromFile(keyFile(text)),
    ]) {
      expect((await open(layer)).current?.publicKey).toEqual(publicKey);
    }
  }
});

describe("an unusable key is refused without being quoted", () => {
  const wrongPublicKey = JSON.stringify([...seed, ...seed]);
  const texts = {
    nothing: "",
    "half a key": base64.slice(0, 20),
    "base64 without padding": base64.replace("=", ""),
    hex: Buffer.from(seed).toString("hex"),
    "64 bytes as base64": encodeBase64(Uint8Array.from([...seed, ...publicKey])),
    "numbers whose halves do not belong together": wrongPublicKey,
    "32 numbers": JSON.stringify([...seed]),
    "a number beyond a byte": keygen.replace("[1,", "[256,"),
    words: "correct horse battery staple",
  };
  for (const [what, text] of Object.entries(texts)) {
    test(what, async () => {
      const path = keyFile(text);
      for (const [layer, source] of [
        [evidenceSignerFromText(Redacted.make(text)), "EVIDENCE_SIGNING_KEY"],
        [evidenceSignerFromFile(path), path],
      ] as const) {
        const failure = await refusal(layer);
        expect(failure.source).toBe(source);
        expect(failure.message).toContain(source);
        const shown = `${inspect(failure)}${Cause.pretty(Cause.fail(failure))}`;
        if (text.length > 8) expect(shown).not.toContain(text.slice(4, 20));
      }
    });
  }

  test("a file that others can read or change", async () => {
    for (const mode of [0o640, 0o604, 0o644, 0o620]) {
      const path = keyFile(base64, mode);
      const failure = await refusal(evidenceSignerFromFile(path));
      expect(failure.message).toContain(path);
      expect(failure.message).toContain("chmod 600");
      expect(inspect(failure)).not.toContain(base64.slice(4, 20));
    }
  });

  test("a file that is missing, a folder, or enormous", async () => {
    expect((await refusal(evidenceSignerFromFile(join(folder, "none")))).reason).toContain(
      "ENOENT",
    );
    expect((await refusal(evidenceSignerFromFile(folder))).source).toBe(folder);
    const enormous = keyFile("A".repeat(100_000));
    expect((await refusal(evidenceSignerFromFile(enormous))).reason).toContain("too long");
  });
});

describe("evidenceSignerGenerated", () => {
  test("makes a file for its owner only, once, and leaves nothing else behind", async () => {
    const dataDir = join(folder, "fresh", "data");
    const signers = await Promise.all(
      Array.from({ length: 4 }, () => open(evidenceSignerGenerated(dataDir))),
    );
    const path = join(dataDir, GENERATED_KEY_FILE);
    expect(new Set(signers.map(({ current }) => current?.keyId)).size).toBe(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual([GENERATED_KEY_FILE]);
    const text = readFileSync(path, "utf8");
    expect((await open(evidenceSignerFromText(Redacted.make(text)))).current).toEqual(
      signers[0]?.current ?? null,
    );
  });

  test("two data directories have two keys", async () => {
    const keys = await Promise.all(
      ["one", "two"].map((name) => open(evidenceSignerGenerated(join(folder, name)))),
    );
    expect(keys[0]?.current?.keyId).not.toBe(keys[1]?.current?.keyId);
  });

  test("refuses a file that others can read", async () => {
    const dataDir = join(folder, "opened");
    await open(evidenceSignerGenerated(dataDir));
    chmodSync(join(dataDir, GENERATED_KEY_FILE), 0o644);
    expect((await refusal(evidenceSignerGenerated(dataDir))).reason).toContain("chmod 600");
  });
});

const withFormer = (text: string) => evidenceSignerFromSeed(Redacted.make(seed), text);

describe("former keys", () => {
  test("are listed with their status and end", async () => {
    const { former } = await open(
      withFormer(` ${otherX} , ${thirdX} revoked 2026-09-01T00:00:00Z`),
    );
    expect(former.map(({ publicKey, ...key }) => [encodeBase64Url(publicKey), key])).toEqual([
      [otherX, { keyId: expect.any(String), status: "retired", endedAtMs: null }],
      [thirdX, { keyId: expect.any(String), status: "revoked", endedAtMs: 1_788_220_800_000 }],
    ]);
    expect((await open(withFormer("  "))).former).toEqual([]);
  });

  test("are published by a signer without a key, which dies when asked to sign", async () => {
    const signer = await open(evidenceSignerNone(otherX));
    expect(signer.current).toBeNull();
    expect(signer.former).toHaveLength(1);
    const exit = await Effect.runPromiseExit(signer.sign(new Uint8Array(1)));
    expect(Exit.hasDies(exit)).toBe(true);
  });

  test("are refused when malformed, repeated, or equal to the signing key", async () => {
    const smallOrder = encodeBase64Url(Uint8Array.of(1, ...new Uint8Array(31)));
    for (const text of [
      x,
      `${otherX},${otherX}`,
      `${otherX},`,
      otherX.slice(1),
      `${otherX} current`,
      `${otherX} retired yesterday`,
      `${otherX} retired 2026-09-01T00:00:00Z again`,
      smallOrder,
    ]) {
      expect(await refusal(withFormer(text))).toMatchObject({ _tag: "EvidenceKeyUnusable" });
    }
  });
});
