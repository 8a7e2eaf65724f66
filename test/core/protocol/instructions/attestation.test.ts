import { describe, expect, test } from "bun:test";
import {
  fixCodecSize,
  getAddressCodec,
  getBase16Codec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU16Codec,
  getU64Codec,
  getU8Codec,
} from "@solana/kit";
import fc from "fast-check";
import {
  attestationMessage,
  ed25519Instruction,
  MAX_ATTESTATION_AGE_SECONDS,
  MAX_ATTESTATION_LEAD_SECONDS,
} from "../../../../core/protocol/instructions/attestation.ts";
import attestorIdl from "../../../../programs/attestor.idl.json" with { type: "json" };
import {
  anyAddress,
  anyHash32,
  anyU64,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const anyI64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const fullMessage = getStructCodec([
  ["escrow", getAddressCodec()],
  ["proofHash", fixCodecSize(getBase16Codec(), 32)],
  ["timestamp", getI64Codec()],
]);
const partialMessage = getStructCodec([
  ["full", fullMessage],
  ["amount", getU64Codec()],
]);

const constant = (name: string): bigint =>
  BigInt(attestorIdl.constants.find((each) => each.name === name)?.value ?? -1);

describe("attestation message", () => {
  test("it is escrow, proof hash and timestamp, and in a partial release the amount", () => {
    fc.assert(
      fc.property(anyAddress, anyHash32, anyI64, anyU64, (escrow, proofHash, timestamp, amount) => {
        const claim = { escrow, proofHash, timestamp };
        const full = { escrow: escrow, proofHash, timestamp };
        const message = attestationMessage(claim);
        expect(message).toHaveLength(72);
        expect(message).toEqual(new Uint8Array(fullMessage.encode(full)));
        const partial = attestationMessage({ ...claim, partialAmount: amount });
        expect(partial).toHaveLength(80);
        expect(partial).toEqual(new Uint8Array(partialMessage.encode({ full, amount })));
      }),
      runs(200),
    );
  });

  test("its limits on age and lead are those of the attestor program", () => {
    expect(MAX_ATTESTATION_AGE_SECONDS).toBe(constant("MAX_ATTESTATION_AGE_SECONDS"));
    expect(MAX_ATTESTATION_LEAD_SECONDS).toBe(constant("MAX_ATTESTATION_LEAD_SECONDS"));
  });
});

/** One `Ed25519SignatureOffsets` after its count, as Agave's precompile reads it. */
const instructionData = (messageLength: number) =>
  getStructCodec([
    ["count", getU8Codec()],
    ["padding", getU8Codec()],
    ["signatureOffset", getU16Codec()],
    ["signatureInstruction", getU16Codec()],
    ["publicKeyOffset", getU16Codec()],
    ["publicKeyInstruction", getU16Codec()],
    ["messageOffset", getU16Codec()],
    ["messageLength", getU16Codec()],
    ["messageInstruction", getU16Codec()],
    ["publicKey", getAddressCodec()],
    ["signature", fixCodecSize(getBytesCodec(), 64)],
    ["message", fixCodecSize(getBytesCodec(), messageLength)],
  ]);

describe("Ed25519 precompile instruction", () => {
  test("it points at key, signature and message inside its own data, and has no other bytes", () => {
    const anyMessage = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(anyAddress, bytesOfLength(64), anyMessage, (publicKey, signature, message) => {
        const { programAddress, accounts, data } = ed25519Instruction({
          publicKey,
          signature,
          message,
        });
        expect(programAddress as string).toBe("Ed25519SigVerify111111111111111111111111111");
        expect(accounts).toEqual([]);
        const read = instructionData(message.length).decode(data);
        expect(read).toMatchObject({ count: 1, padding: 0, messageLength: message.length });
        expect(read.signatureInstruction).toBe(0xffff);
        expect(read.publicKeyInstruction).toBe(0xffff);
        expect(read.messageInstruction).toBe(0xffff);
        const at = (offset: number, length: number) => data.slice(offset, offset + length);
        expect(Buffer.compare(at(read.signatureOffset, 64), signature)).toBe(0);
        expect(Buffer.compare(at(read.messageOffset, read.messageLength), message)).toBe(0);
        const key = at(read.publicKeyOffset, 32);
        expect(getAddressCodec().decode(key) as string).toBe(publicKey);
        expect(data).toEqual(new Uint8Array(instructionData(message.length).encode(read)));
        expect(data).toHaveLength(112 + message.length);
      }),
      runs(100),
    );
  });
});
