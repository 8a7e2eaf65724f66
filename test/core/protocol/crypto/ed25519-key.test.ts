import { expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { nativeEd25519Key } from "../../../../client/node/native-crypto.ts";
import {
  type Ed25519Key,
  ed25519Key,
  portableEd25519Key,
  provideEd25519Key,
} from "../../../../core/protocol/crypto/ed25519-key.ts";
import { runs } from "../../../arbitraries/runs.ts";

const SEED = fc.uint8Array({ minLength: 32, maxLength: 32 });

test.each([
  ["the portable key", portableEd25519Key],
  ["the runtime's", nativeEd25519Key],
  ["the one of this process", ed25519Key],
])("%s is that of RFC 8032, and signs as it", (_, keyOf) => {
  fc.assert(
    fc.property(SEED, fc.uint8Array({ maxLength: 200 }), (seed, message) => {
      const { publicKey, sign } = keyOf(seed);
      expect(publicKey).toEqual(ed25519.getPublicKey(seed));
      expect(sign(message)).toEqual(ed25519.sign(message, seed));
    }),
    runs(30),
  );
});

test("keys that sign otherwise are not taken for the process", () => {
  const withSignature =
    (change: (signature: Uint8Array, message: Uint8Array) => Uint8Array) =>
    (seed: Uint8Array): Ed25519Key => {
      const key = nativeEd25519Key(seed);
      return { ...key, sign: (message) => change(key.sign(message), message) };
    };
  const wrong = [
    withSignature((signature) => signature.slice(0, 63)),
    withSignature((signature, message) =>
      message.length === 0 ? signature : signature.toReversed(),
    ),
    (seed: Uint8Array): Ed25519Key => ({ ...nativeEd25519Key(seed), publicKey: seed }),
    () => nativeEd25519Key(new Uint8Array(32)),
  ];
  for (const native of wrong) expect(() => provideEd25519Key(native)).toThrow("another signature");
  const seed = new Uint8Array(32).fill(9);
  expect(ed25519Key(seed).sign(seed)).toEqual(ed25519.sign(seed, seed));
});
