import { describe, expect, test } from "bun:test";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { nativeEd25519 } from "../../../../client/node/native-crypto.ts";
import {
  portableVerifyEd25519,
  strictVerifyBy,
} from "../../../../core/protocol/crypto/strict-ed25519.ts";
import { strictlySigned } from "../../../conformance/evidence/independent-ed25519.ts";
import { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import vectors from "../../../vectors/wycheproof/ed25519_test.json" with { type: "json" };

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

const cases = vectors.testGroups.flatMap(({ publicKey, tests }) =>
  tests.map(({ tcId, comment, msg, sig, result }) => ({
    name: `${tcId} ${comment}`,
    key: bytes(publicKey.pk),
    message: bytes(msg),
    signature: bytes(sig),
    valid: result === "valid",
  })),
);
const wholeSignatures = cases.filter(({ signature }) => signature.length === 64);

const ledger = new TestLedger();
const payer = wallet("payer of Wycheproof's checks");
ledger.fund(payer.address);

/** The result of the runtime's precompile for a signature of 64 bytes. Its instruction cannot hold other lengths. */
const precompile = (each: (typeof cases)[number]): boolean => {
  const { key, message, signature } = each;
  const publicKey = addressFromBytes(key);
  const instruction = ed25519Instruction({ publicKey, signature, message });
  const { refusal } = ledger.send([instruction], [payer]);
  // Any other refusal would not be about the signature. 2 is the precompile's InvalidSignature (Agave
  // `precompile-error`).
  expect(refusal).toBeOneOf([undefined, "custom 2"]);
  return refusal === undefined;
};

describe("Wycheproof's Ed25519 vectors", () => {
  test("all vectors are present: valid and invalid ones, and every length", () => {
    expect(cases.length).toBe(vectors.numberOfTests);
    expect(cases.filter(({ valid }) => valid).length).toBe(88);
    expect(wholeSignatures.length).toBe(139);
  });

  test.each(cases)("$name: the relay's and the verifier's check", ({ key, message, ...each }) => {
    // Twelve times, because a frequent key gets a table of its multiples.
    for (let i = 0; i < 12; i++)
      for (const verifyEd25519 of [portableVerifyEd25519, strictVerifyBy(nativeEd25519)])
        expect(verifyEd25519(each.signature, message, key)).toBe(each.valid);
  });

  test.each(cases)("$name: the independent verifier", ({ key, message, signature, valid }) => {
    expect(strictlySigned(signature, message, key)).toBe(valid);
  });

  test.each(wholeSignatures)("$name: the ledger's precompile", (each) => {
    expect(precompile(each)).toBe(each.valid);
  });
});
