import { describe, expect, test } from "bun:test";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { rotateAttestorInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/attestation.ts";
import * as s from "../fixture/settlement.ts";
import { deployAcceptEverything, withData } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { wallet } from "../fixture/wallet.ts";

const attest = s.attestInstruction();
const release = s.releaseInstruction();

const refusal = (
  instructions: ReadonlyArray<Instruction>,
  ledger: TestLedger = s.escrowLedger(),
): string | undefined => ledger.send(instructions, [s.stranger]).refusal;

/** An Ed25519 instruction by the attestor over any bytes. */
const sign = (message: Uint8Array): Instruction =>
  ed25519Instruction({
    publicKey: s.attestor.address,
    signature: s.attestor.sign(message),
    message,
  });

const message = attest.data.slice(112);

/** The attestation with one of its u16 LE header fields changed. */
const withHeader = (at: number, value: number): Instruction => {
  const data = attest.data.slice();
  new DataView(data.buffer).setUint16(at, value, true);
  return withData(attest, data);
};

describe("the Ed25519 instruction", () => {
  test("is needed", () => {
    expect(refusal([release])).toBe("6119 AttestationMissing");
  });

  test("must come before the release", () => {
    expect(refusal([release, attest])).toBe("6119 AttestationMissing");
  });

  test("may come before it with others between", () => {
    expect(
      refusal([s.attestInstruction({ proofHash: s.hashOf(9) }), attest, release]),
    ).toBeUndefined();
  });

  test("must have a valid signature", () => {
    const data = attest.data.with(60, (attest.data[60] ?? 0) ^ 1);
    // The precompile itself refuses: PrecompileError::InvalidSignature.
    expect(refusal([withData(attest, data), release])).toBe("custom 2");
  });

  test.each([
    ["signature", 4],
    ["key", 8],
    ["message", 14],
  ])("must have its %s in its own data, by the index 65535", (_, at) => {
    expect(refusal([withHeader(at, 0), release])).toBe("6120 AttestationMalformed");
  });

  test("may not contain one message and make the runtime check another", () => {
    const bait = s.attestInstruction({}, s.stranger);
    // Looks like the attestor's attestation, but all three indices lead to the stranger's own instruction.
    const data = attest.data.slice();
    const view = new DataView(data.buffer);
    for (const at of [4, 8, 14]) view.setUint16(at, 0, true);
    data.fill(0, 48, 112);
    expect(refusal([bait, withData(attest, data), release])).toBe("6120 AttestationMalformed");
  });

  test("must hold exactly one signature", () => {
    const single = attest.data.slice(16);
    const two = new Uint8Array(2 + 28 + single.length);
    const view = new DataView(two.buffer);
    two[0] = 2;
    const fields = [62, 0xffff, 30, 0xffff, 126, 72, 0xffff];
    for (const base of [2, 16])
      fields.forEach((value, i) => view.setUint16(base + 2 * i, value, true));
    two.set(single, 30);
    expect(refusal([withData(attest, two), release])).toBe("6120 AttestationMalformed");
    expect(refusal([withData(attest, Uint8Array.of(0, 0)), release])).toBe(
      "6120 AttestationMalformed",
    );
  });

  test("of another program does not count", () => {
    const ledger = s.escrowLedger();
    const unchecked = { ...attest, programAddress: deployAcceptEverything(ledger) };
    expect(refusal([unchecked, release], ledger)).toBe("6119 AttestationMissing");
  });
});

describe("the message", () => {
  test.each([
    ["another escrow", { escrow: s.vault }],
    ["another proof", { proofHash: s.hashOf(0x23) }],
    ["another timestamp", { timestamp: s.START + 1n }],
    ["a partial release", { partialAmount: s.AMOUNT }],
    ["a partial release of nothing", { partialAmount: 0n }],
  ])("may not be for %s", (_, claim) => {
    expect(refusal([s.attestInstruction(claim), release])).toBe("6122 WrongMessage");
  });

  test("must equal the claim in every byte", () => {
    const ledger = s.escrowLedger();
    for (let at = 0; at < 72; at++) {
      const changed = message.with(at, (message[at] ?? 0) ^ 1);
      expect(refusal([sign(changed), release], ledger)).toBe("6122 WrongMessage");
    }
  });

  test("must have the exact length", () => {
    expect(refusal([sign(message.slice(0, 71)), release])).toBe("6122 WrongMessage");
    expect(refusal([sign(Uint8Array.of(...message, 0)), release])).toBe("6122 WrongMessage");
  });

  test("of a partial release must name its amount", () => {
    const partial = s.partialInstruction(7n);
    expect(refusal([attest, partial])).toBe("6122 WrongMessage");
    expect(refusal([s.attestInstruction({ partialAmount: 8n }), partial])).toBe(
      "6122 WrongMessage",
    );
    expect(refusal([s.attestInstruction({ partialAmount: 7n }), partial])).toBeUndefined();
  });
});

describe("the key", () => {
  test.each([s.merchant, s.agent, s.stranger])(
    "is the attestor's, not another ($address)",
    (other) => {
      expect(refusal([s.attestInstruction({}, other), release])).toBe("6121 WrongAttestor");
    },
  );

  test("must be the key that the escrow records, also after a rotation", () => {
    const ledger = s.escrowLedger();
    const next = wallet("next attestor");
    const input = { merchant: s.merchant.address, attestor: next.address };
    ledger.do([rotateAttestorInstruction(s.deployment, input)], [s.merchant]);
    expect(refusal([s.attestInstruction({}, next), release], ledger)).toBe("6121 WrongAttestor");
    expect(refusal([attest, release], ledger)).toBeUndefined();
    expect(s.readEscrow(ledger).attestor).toBe(s.attestor.address);
  });
});

/** A release attested at one second and sent at another, both counted from the escrow's creation. */
const releaseAttestedAt = (attested: bigint, sent: bigint): string | undefined => {
  const ledger = s.escrowLedger();
  ledger.time = s.START + sent;
  const timestamp = s.START + attested;
  return refusal([s.attestInstruction({ timestamp }), s.releaseInstruction({ timestamp })], ledger);
};

describe("the timestamp", () => {
  test.each([
    ["300 s old", 100n, 400n, undefined],
    ["301 s old", 100n, 401n, "6123 AttestationStale"],
    ["30 s ahead", 130n, 100n, undefined],
    ["31 s ahead", 131n, 100n, "6124 AttestationFromFuture"],
    ["the escrow's first second", 0n, 0n, undefined],
    ["the second before the escrow", -1n, 0n, "6125 AttestationOutsideEscrow"],
    ["the escrow's last second", 3599n, 3599n, undefined],
    ["the second of expiry", 3600n, 3599n, "6125 AttestationOutsideEscrow"],
    ["the least i64", -(2n ** 63n) - s.START, 0n, "6125 AttestationOutsideEscrow"],
    ["the greatest i64", 2n ** 63n - 1n - s.START, 0n, "6125 AttestationOutsideEscrow"],
  ])("%s", (_, attested, sent, expected) => {
    expect(releaseAttestedAt(attested, sent)).toBe(expected);
  });
});
