import { describe, expect, test } from "bun:test";
import {
  fixCodecSize,
  getAddressCodec,
  getBase16Codec,
  getBooleanCodec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU16Codec,
  getU32Codec,
  getU64Codec,
  getU8Codec,
  getUtf8Codec,
} from "@solana/kit";
import fc from "fast-check";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import {
  attestationMessage,
  domainOf,
  MAX_ATTESTATION_AGE_SECONDS,
  MAX_ATTESTATION_LEAD_SECONDS,
} from "../../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import custodyIdl from "../../../../programs/custody.idl.json" with { type: "json" };
import vectors from "../../../vectors/attestation.json" with { type: "json" };
import {
  anyAddress,
  anyHash32,
  anyU64,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const hash32 = (text: string) => hash32FromBytes(Uint8Array.fromHex(text));
const anyI64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const hash = () => fixCodecSize(getBase16Codec(), 32);
const claimCodec = getStructCodec([
  ["tag", fixCodecSize(getUtf8Codec(), 8)],
  ["domain", hash()],
  ["terms", hash()],
  ["proofHash", hash()],
  ["total", getU64Codec()],
  ["timestamp", getI64Codec()],
  ["deliveries", getU32Codec()],
  ["isFinal", getBooleanCodec()],
  ["zero", fixCodecSize(getBytesCodec(), 3)],
]);

const constant = (name: string): bigint =>
  BigInt(custodyIdl.constants.find((each) => each.name === name)?.value ?? -1);

const anyClaim = fc.record({
  domain: anyHash32,
  terms: anyHash32,
  proofHash: anyHash32,
  total: anyU64,
  timestamp: anyI64,
  deliveries: fc.nat(2 ** 32 - 1),
  isFinal: fc.boolean(),
});

describe("attestation message", () => {
  test("it is 128 bytes: tag, domain, terms, proof hash, total, timestamp, deliveries and final", () => {
    fc.assert(
      fc.property(anyClaim, (claim) => {
        const message = attestationMessage(claim);
        expect(message).toHaveLength(128);
        const read = { ...claim, tag: "attest 3", zero: new Uint8Array(3) };
        expect(message).toEqual(new Uint8Array(claimCodec.encode(read)));
      }),
      runs(200),
    );
  });

  test.each(vectors.messages)("$name is as recorded", ({ claim, genesis_hash, message_hex }) => {
    const custodyProgram = vectors.custody_program;
    const domain = domainOf({ genesisHash: genesis_hash, custodyProgram });
    const message = attestationMessage({
      domain,
      terms: hash32(claim.terms),
      proofHash: hash32(claim.proof_hash),
      total: BigInt(claim.total),
      timestamp: BigInt(claim.timestamp),
      deliveries: claim.deliveries,
      isFinal: claim.final,
    });
    expect(domain as string).toBe(claim.domain);
    expect(Buffer.from(message).toString("hex")).toBe(message_hex);
  });

  test("its limits on age and lead are those of the custody program", () => {
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
