import { describe, expect, test } from "bun:test";
import { withSignedByte } from "../fixture/ed25519-forms.ts";
import { precheck } from "../fixture/precheck.ts";
import * as s from "../fixture/settlement.ts";
import { capture, release, withByte } from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";

// The proof of a session is one instruction of 470 bytes. Here each of them is changed, without and with new signatures.

const PROOF = { total: 2_500_000n, deliveries: 4 };
const KINDS = [
  ["a capture", false, capture],
  ["a session's release", true, release],
] as const;

const held = (ledger: TestLedger) => [
  ledger.account(s.escrow),
  tokenBalance(ledger, s.vault),
  tokenBalance(ledger, s.merchantTokens),
];

/**
 * What the runtime's precompile says (Agave, PrecompileError): InvalidPublicKey, InvalidSignature, InvalidDataOffsets,
 * InvalidInstructionDataSize.
 */
const BY_THE_PRECOMPILE: ReadonlySet<string> = new Set([
  "custom 0",
  "custom 2",
  "custom 3",
  "custom 4",
]);
/** What the service says of one. */
const RULES: ReadonlySet<string | undefined> = new Set([
  "ed25519_malformed",
  "ed25519_points_elsewhere",
  "attestation_signature_invalid",
  "voucher_signature_invalid",
  "wrong_attestor_key",
  "wrong_session_key",
  "terms_differ",
  "message_differs",
]);

describe.each(KINDS)("%s with a changed byte", (_, isFinal, payment) => {
  test("is refused by name, whichever of the 470 it is: no byte is without meaning", () => {
    const ledger = s.sessionLedger();
    const prove = s.proveInstruction({ ...PROOF, isFinal });
    expect(prove.data).toHaveLength(470);
    const before = held(ledger);
    for (const [at, byte] of prove.data.entries()) {
      for (const bits of [1, 0xff]) {
        const changed = withByte(prove, at, byte ^ bits);
        const { refusal } = ledger.send([changed, payment], [s.stranger]);
        // The padding is the one byte that the precompile passes over.
        const isNamed =
          at === 1
            ? refusal === "6039 AttestationMalformed"
            : BY_THE_PRECOMPILE.has(refusal ?? "it pays");
        expect([at, bits, refusal, isNamed]).toEqual([at, bits, refusal, true]);
      }
      // Of the parts behind the header each seventh byte: the strict check in TypeScript takes its time.
      if (at >= 30 && at % 7 !== 0) continue;
      const rule = precheck(ledger, [withByte(prove, at, byte ^ 1), payment], [s.stranger])?.rule;
      expect([at, rule, RULES.has(rule)]).toEqual([at, rule, true]);
    }
    expect(held(ledger)).toEqual(before);
    // The ledger is not what refuses.
    expect(ledger.send([prove, payment], [s.stranger]).refusal).toBeUndefined();
  });
});

const sum = (message: Uint8Array, at: number) =>
  new DataView(message.buffer).getBigUint64(at, true);
const count = (message: Uint8Array, at: number) => new DataView(message.buffer).getUint32(at, true);

/** What a signed message with one changed bit at a place is refused for; undefined where the signer alone says it. */
const refusalOf = (
  which: "attestation" | "voucher",
  at: number,
  message: Uint8Array,
  isFinal: boolean,
): string | undefined => {
  if (at < 72) return "6040 WrongTerms";
  if (at < 104) return undefined; // the root over deliveries or orders
  if (which === "voucher") {
    if (at >= 117) return "6052 WrongVoucher";
    if (isFinal) return "6052 WrongVoucher";
    const isLess = sum(message, 104) < PROOF.total || count(message, 112) < PROOF.deliveries;
    return isLess ? "6052 WrongVoucher" : undefined;
  }
  if (at >= 124) return "6042 WrongMessage";
  if (at >= 112 && at < 120) {
    const later = BigInt.asIntN(64, sum(message, 112)) - s.START;
    if (later < 0n) return "6045 AttestationOutsideEscrow";
    if (isFinal && later >= BigInt(s.TTL_SECONDS)) return "6045 AttestationOutsideEscrow";
    return later > 30n ? "6044 AttestationFromFuture" : undefined;
  }
  const isMore = sum(message, 104) > PROOF.total || count(message, 120) > PROOF.deliveries;
  return isMore || isFinal ? "6052 WrongVoucher" : undefined;
};

describe.each(KINDS)("%s by messages signed with a changed bit", (_, isFinal, payment) => {
  test.each([
    ["attestation", 128],
    ["voucher", 120],
  ] as const)("in any byte of the %s pays only what both messages say", (which, length) => {
    const proof = { ...PROOF, isFinal };
    const [attestation, voucher] = s.sessionMessages(proof);
    const { message } = which === "attestation" ? attestation : voucher;
    expect(message).toHaveLength(length);
    let ledger = s.sessionLedger();
    const before = held(ledger);
    for (const [at, byte] of message.entries()) {
      const changed = withSignedByte(proof, which, at, byte ^ 1);
      const refusal = ledger.send([changed, payment], [s.stranger]).refusal;
      const signed = message.with(at, byte ^ 1);
      expect([at, refusal]).toEqual([at, refusalOf(which, at, signed, isFinal)]);
      if (refusal !== undefined) expect(held(ledger)).toEqual(before);
      else {
        const total = which === "attestation" ? sum(signed, 104) : PROOF.total;
        expect(tokenBalance(ledger, s.merchantTokens)).toBe(total);
        ledger = s.sessionLedger();
      }
    }
  });
});
