import { createPublicKey, verify } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { nativeEd25519 } from "../../../../client/node/native-crypto.ts";
import {
  portableVerifyEd25519,
  provideEd25519,
  strictVerifyBy,
} from "../../../../core/protocol/crypto/strict-ed25519.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import vectors from "../../../vectors/rfc8032-ed25519.json" with { type: "json" };

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;
const P = 2n ** 255n - 19n;

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const toInteger = (little: Uint8Array): bigint =>
  little.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
const toBytes = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

const torsion = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex));
type EdwardsPoint = (typeof torsion)[number];

/** k of RFC 8032, section 5.1.7. */
const challenge = (r: Uint8Array, key: Uint8Array, message: Uint8Array): bigint =>
  toInteger(sha512(Buffer.concat([r, key, message]))) % ORDER;

/** A signature by the owner of a and r, with key aB plus one torsion point and nonce rB plus another. */
const craft = (a: bigint, r: bigint, keyTorsion: EdwardsPoint, nonceTorsion: EdwardsPoint) => {
  const key = Point.BASE.multiplyUnsafe(a).add(keyTorsion).toBytes();
  const nonce = Point.BASE.multiplyUnsafe(r).add(nonceTorsion).toBytes();
  return (message: Uint8Array) => {
    const s = (r + challenge(nonce, key, message) * a) % ORDER;
    return { key, message, signature: Uint8Array.from([...nonce, ...toBytes(s)]) };
  };
};

/** OpenSSL's verification: cofactorless, but without the rules on small order. */
const openssl = (signature: Uint8Array, message: Uint8Array, key: Uint8Array): boolean => {
  const der = Buffer.concat([bytes("302a300506032b6570032100"), key]);
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: "der", type: "spki" }),
    signature,
  );
};

const IMPLEMENTATIONS = [
  ["the portable one", portableVerifyEd25519],
  ["the runtime's", strictVerifyBy(nativeEd25519)],
] as const;

describe.each(IMPLEMENTATIONS)("strict Ed25519 verification: %s", (_, verifyEd25519) => {
  test("RFC 8032's own signatures verify", () => {
    for (const { publicKey, message, signature } of vectors.cases) {
      expect(verifyEd25519(bytes(signature), bytes(message), bytes(publicKey))).toBe(true);
    }
  });

  test("a signature verifies, and with one byte changed anywhere it does not", () => {
    const secret = bytesOfLength(32);
    const change = fc.tuple(fc.nat({ max: 1000 }), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(secret, fc.uint8Array({ maxLength: 90 }), change, (seed, message, [at, mask]) => {
        const key = ed25519.getPublicKey(seed);
        const signature = ed25519.sign(message, seed);
        expect(verifyEd25519(signature, message, key)).toBe(true);
        const all = Uint8Array.from([...signature, ...key, ...message]);
        const index = at % all.length;
        const changed = all.with(index, (all[index] ?? 0) ^ mask);
        const parts = [changed.slice(0, 64), changed.slice(96), changed.slice(64, 96)] as const;
        expect(verifyEd25519(...parts)).toBe(false);
      }),
      runs(60),
    );
  });

  // A key with a torsion part lets its owner make signatures on which cofactored and cofactorless verifiers
  // differ. The ledger's check is cofactorless and refuses small orders, and this one must agree.
  test("the ledger's precompile agrees on keys and nonces with every torsion part", () => {
    const ledger = new TestLedger();
    const payer = wallet("payer of strict checks");
    ledger.fund(payer.address);
    const message = new TextEncoder().encode("a delivery");
    const a = toInteger(bytes("07".repeat(31)));
    const r = toInteger(bytes("0b".repeat(31)));
    const outcomes = { accepted: 0, refused: 0 };
    const compare = (signed: ReturnType<ReturnType<typeof craft>>) => {
      const { key, signature } = signed;
      const instruction = ed25519Instruction({
        publicKey: addressFromBytes(key),
        signature,
        message,
      });
      const accepted = ledger.send([instruction], [payer]).refusal === undefined;
      expect(verifyEd25519(signature, message, key)).toBe(accepted);
      outcomes[accepted ? "accepted" : "refused"] += 1;
    };
    for (const keyTorsion of torsion) {
      for (const nonceTorsion of torsion) compare(craft(a, r, keyTorsion, nonceTorsion)(message));
      compare(craft(0n, r, keyTorsion, Point.ZERO)(message));
      compare(craft(a, 0n, Point.ZERO, keyTorsion)(message));
    }
    expect(outcomes.accepted).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(60);
  });

  // A frequent key gets a table of its multiples. Its first and its twelfth use must give the same result.
  test("OpenSSL, which is cofactorless too, agrees on every message under a mixed-order key", () => {
    const verdicts = torsion.flatMap((keyTorsion) => {
      const sign = craft(12_345n, 67_890n, keyTorsion, Point.ZERO);
      return Array.from({ length: 12 }, (_, i) => sign(Uint8Array.of(i))).map(
        ({ key, message, signature }) => {
          const verdict = verifyEd25519(signature, message, key);
          expect(verdict).toBe(openssl(signature, message, key));
          const changed = signature.with(40, (signature[40] ?? 0) ^ 1);
          expect(verifyEd25519(changed, message, key)).toBe(false);
          return verdict;
        },
      );
    });
    expect(verdicts).toContain(true);
    expect(verdicts).toContain(false);
  });

  test("S beyond the group order, and encodings that do not reduce, are refused", () => {
    const { key, message, signature } = craft(5n, 7n, Point.ZERO, Point.ZERO)(Uint8Array.of(1));
    expect(verifyEd25519(signature, message, key)).toBe(true);
    const s = toInteger(signature.slice(32));
    const highS = Uint8Array.from([...signature.slice(0, 32), ...toBytes(s + ORDER)]);
    expect(verifyEd25519(highS, message, key)).toBe(false);
    expect(verifyEd25519(Uint8Array.from([...signature, 0]), message, key)).toBe(false);
    for (const y of [0n, 1n, 3n, P - 1n, P, P + 1n, P + 3n]) {
      for (const sign of [0n, 1n << 255n]) {
        const encoded = toBytes(y | sign);
        expect(verifyEd25519(signature, message, encoded)).toBe(false);
        const other = Uint8Array.from([...encoded, ...new Uint8Array(32)]);
        expect(verifyEd25519(other, message, encoded)).toBe(false);
      }
    }
  });

  test("wrong lengths are refused without a throw", () => {
    const message = Uint8Array.of(1);
    for (const [signature, key] of [
      [0, 32],
      [63, 32],
      [65, 32],
      [64, 0],
      [64, 31],
      [64, 33],
    ] as const) {
      expect(verifyEd25519(new Uint8Array(signature), message, new Uint8Array(key))).toBe(false);
    }
  });
});

test("a verification that decides otherwise is not taken for the process", () => {
  const cofactored = (signature: Uint8Array, message: Uint8Array, key: Uint8Array): boolean =>
    ed25519.verify(signature, message, key, { zip215: true });
  for (const wrong of [cofactored, () => true, () => false])
    expect(() => provideEd25519(wrong)).toThrow("another answer");
});
