import { expect, test } from "bun:test";
import { createHash, createPublicKey, verify } from "node:crypto";
import { getAddressEncoder, address } from "@solana/kit";
import vectors from "../../../vectors/session-lives.json" with { type: "json" };
import { sessionLives } from "./session-lives.ts";

/** Offset and length of what captures, a close and a settlement write: docs/protocol.md, "Escrow account". */
const CHANGED = [
  [10, 1],
  [12, 4],
  [184, 8],
  [208, 8],
  [216, 32],
  [280, 8],
  [288, 64],
  [360, 8],
  [400, 1],
  [408, 8],
] as const;

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const hexOf = (text: string): string => Buffer.from(text).toString("hex");
const key = (text: string): Buffer => Buffer.from(getAddressEncoder().encode(address(text)));
const isSigned = (of: { public_key: string; message_hex: string; signature_hex: string }) => {
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key(of.public_key)]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const [message, signature] = [of.message_hex, of.signature_hex].map((hex) =>
    Buffer.from(hex, "hex"),
  );
  return verify(null, message ?? der, publicKey, signature ?? der);
};

test("the recorded lives are those of this code", () => {
  expect(JSON.parse(JSON.stringify(sessionLives()))).toEqual(vectors);
});

test.each(vectors.lives.map((life) => [life.at(-1)?.after, life] as const))(
  "a life that ends with %s: terms, messages and signatures by node:crypto and kit alone",
  (_, life) => {
    const domain = Buffer.concat([
      Buffer.from("settlement-evidence 3\0"),
      key(vectors.genesis_hash),
      key(vectors.custody_program),
    ]);
    expect(sha256(domain)).toBe(vectors.domain);
    const created = Buffer.from(life[0]?.account_base64 ?? "", "base64");
    for (const { account_base64, terms, proof } of life) {
      const account = Buffer.from(account_base64, "base64");
      const undone = Buffer.from(account);
      for (const [at, length] of CHANGED) undone.fill(0, at, at + length);
      expect(undone.equals(created)).toBe(true);
      expect(sha256(undone)).toBe(terms);
      if (proof === null) continue;
      const { attestation, voucher, ed25519_hex } = proof;
      expect([attestation.message_hex, voucher.message_hex].map((hex) => hex.length)).toEqual([
        256, 240,
      ]);
      const named = vectors.domain + terms;
      expect(attestation.message_hex.startsWith(`${hexOf("attest 3")}${named}`)).toBe(true);
      expect(voucher.message_hex.startsWith(`${hexOf("voucher3")}${named}`)).toBe(true);
      expect([isSigned(attestation), isSigned(voucher)]).toEqual([true, true]);
      expect(key(attestation.public_key).equals(account.subarray(248, 280))).toBe(true);
      expect(key(voucher.public_key).equals(account.subarray(368, 400))).toBe(true);
      // What the account keeps is what was signed: hash, total, time and deliveries.
      const message = Buffer.from(attestation.message_hex, "hex");
      expect(message.subarray(72, 104).equals(account.subarray(216, 248))).toBe(true);
      expect(message.subarray(104, 112).equals(account.subarray(184, 192))).toBe(true);
      expect(message.subarray(112, 120).equals(account.subarray(280, 288))).toBe(true);
      expect(message.subarray(120, 124).equals(account.subarray(12, 16))).toBe(true);
      expect(account.subarray(288, 352).toString("hex")).toBe(attestation.signature_hex);
      expect(ed25519_hex).toHaveLength(940);
      expect(ed25519_hex.endsWith(attestation.message_hex + voucher.message_hex)).toBe(true);
    }
  },
);
