import { describe, expect, test } from "bun:test";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { rotateAttestorInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { OTHER_FORMS, placed } from "../fixture/ed25519-forms.ts";
import * as s from "../fixture/settlement.ts";
import { deployAcceptEverything, withAccount, withData } from "../fixture/tampering.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { wallet } from "../fixture/wallet.ts";

// What else is refused, each with the rule that the service names: fixture/refused-settlements/refused-attestations.ts.

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

describe("the Ed25519 instruction", () => {
  test("of the one form releases", () => {
    expect(placed()).toEqual(attest);
    expect(refusal([placed(), release])).toBeUndefined();
  });

  test("may come before the release with others between", () => {
    const another = s.attestInstruction({ terms: s.hashOf(9) });
    expect(refusal([another, attest, another, release])).toBeUndefined();
  });

  test("of any other form is passed over", () => {
    for (const { attest: other } of OTHER_FORMS)
      expect(refusal([attest, other(), release])).toBeUndefined();
  });

  test("may not contain one message and make the runtime check another", () => {
    const bait = s.attestInstruction({}, s.stranger);
    // Looks like the attestor's attestation, but all three indices lead to the stranger's own instruction.
    const data = attest.data.slice();
    const view = new DataView(data.buffer);
    for (const at of [4, 8, 14]) view.setUint16(at, 0, true);
    data.fill(0, 48, 112);
    expect(refusal([bait, withData(attest, data), release])).toBe("6041 WrongAttestor");
    const other = s.attestInstruction({ terms: s.hashOf(9) }, s.stranger);
    expect(refusal([other, withData(attest, data), release])).toBe("6040 WrongTerms");
  });

  test("of another program does not count", () => {
    const ledger = s.escrowLedger();
    const unchecked = { ...attest, programAddress: deployAcceptEverything(ledger) };
    expect(refusal([unchecked, release], ledger)).toBe("6027 AttestationMissing");
  });

  test("is read from the Instructions sysvar alone", () => {
    const ledger = s.escrowLedger();
    const forged = withAccount(release, "instructions_sysvar", s.merchantPda);
    expect(refusal([attest, forged], ledger)).toBe("6047 WrongInstructionsSysvar");
  });
});

/**
 * What one flipped bit at a place of the message is refused for: nothing where the attestor alone says what is true, or
 * where the number stays in its range.
 */
const expectedAt = (at: number): string | undefined => {
  if (at < 72) return "6040 WrongTerms";
  if (at < 104) return undefined; // proof_hash
  const changed = message.with(at, (message[at] ?? 0) ^ 1);
  const fields = new DataView(changed.buffer);
  if (at < 112) return fields.getBigUint64(104, true) > s.AMOUNT ? "6015 InvalidAmount" : undefined;
  if (at >= 120) return "6042 WrongMessage";
  const later = fields.getBigInt64(112, true) - s.START;
  if (later < 0n || later >= BigInt(s.TTL_SECONDS)) return "6045 AttestationOutsideEscrow";
  return later > 30n ? "6044 AttestationFromFuture" : undefined;
};

describe("the message", () => {
  test("names this escrow and a delivery in every byte", () => {
    for (let at = 0; at < 128; at++) {
      const changed = message.with(at, (message[at] ?? 0) ^ 1);
      expect([at, refusal([sign(changed), release])]).toEqual([at, expectedAt(at)]);
    }
  });

  test("of a part releases that part, and the rest stays in the vault for the agent", () => {
    const ledger = s.escrowLedger();
    ledger.do([s.attestInstruction({ total: 7n }), release], [s.stranger]);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(7n);
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT - 7n);
    expect(s.readEscrow(ledger)).toMatchObject({ state: "PartiallyFulfilled", released: 7n });
  });

  test("of an escrow does not release a later one of the same agent, merchant and amount", () => {
    const ledger = s.escrowLedger();
    const taskHash = s.hashOf(0x33);
    ledger.do([s.createInstruction({ taskHash })], [s.agent]);
    ledger.do([attest, release], [s.stranger]);
    const second = s.escrowOf(taskHash);
    expect(refusal([attest, s.releaseInstruction({ escrow: second })], ledger)).toBe(
      "6040 WrongTerms",
    );
  });
});

describe("the key", () => {
  test.each([s.merchant, s.agent, s.stranger])(
    "is the attestor's, not another ($address)",
    (other) => {
      expect(refusal([s.attestInstruction({}, other), release])).toBe("6041 WrongAttestor");
    },
  );

  test("must be the key that the escrow records, also after a rotation", () => {
    const ledger = s.escrowLedger();
    const next = wallet("next attestor");
    const input = { merchant: s.merchant.address, attestor: next.address };
    ledger.do([rotateAttestorInstruction(s.deployment, input)], [s.merchant]);
    expect(refusal([s.attestInstruction({}, next), release], ledger)).toBe("6041 WrongAttestor");
    expect(refusal([attest, release], ledger)).toBeUndefined();
    expect(s.readEscrow(ledger).attestor).toBe(s.attestor.address);
  });
});

/** A release attested at one second and sent at another, both counted from the escrow's creation. */
const releaseAttestedAt = (attested: bigint, sent: bigint): string | undefined => {
  const ledger = s.escrowLedger();
  ledger.time = s.START + sent;
  const timestamp = s.START + attested;
  return refusal([s.attestInstruction({ timestamp }), release], ledger);
};

describe("the timestamp", () => {
  test.each([
    ["300 s old", 100n, 400n, undefined],
    ["301 s old", 100n, 401n, "6043 AttestationStale"],
    ["30 s ahead", 130n, 100n, undefined],
    ["31 s ahead", 131n, 100n, "6044 AttestationFromFuture"],
    ["the escrow's first second", 0n, 0n, undefined],
    ["the second before the escrow", -1n, 0n, "6045 AttestationOutsideEscrow"],
    ["the escrow's last second", 3599n, 3599n, undefined],
    ["the second of expiry", 3600n, 3599n, "6045 AttestationOutsideEscrow"],
    ["the least i64", -(2n ** 63n) - s.START, 0n, "6045 AttestationOutsideEscrow"],
    ["the greatest i64", 2n ** 63n - 1n - s.START, 0n, "6045 AttestationOutsideEscrow"],
  ])("%s", (_, attested, sent, expected) => {
    expect(releaseAttestedAt(attested, sent)).toBe(expected);
  });
});
