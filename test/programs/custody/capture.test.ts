import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import { setMerchantStatusInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import * as s from "../fixture/settlement.ts";
import {
  at,
  capture,
  CAPTURED,
  captured,
  capturedLedger,
  close,
  closedLedger,
  CLOSES_AT,
  EXPIRY,
  givenAway,
  newKey,
  refund,
  rotate,
} from "../fixture/settlement-attempts.ts";
import { nowhere } from "../fixture/tampering.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";

// What is refused: fixture/refused-settlements/refused-captures.ts and refused-proofs.ts.

test("pays the merchant what is attested and vouched for, and keeps the attestation on record", () => {
  const ledger = s.sessionLedger();
  const config = custodyConfigAddress(s.deployment).address;
  const before = [config, s.merchantPda].map((each) => ledger.account(each));
  const prove = s.proveInstruction({ total: CAPTURED, deliveries: 3 });
  ledger.do([prove, capture], [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(CAPTURED);
  expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT - CAPTURED);
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Pending",
    settledBy: null,
    settledAt: null,
    settledSeq: null,
    released: CAPTURED,
    deliveries: 3,
    sessionKey: s.sessionKey.address,
    attestation: {
      proofHash: s.PROOF,
      attestedAt: s.START,
      signature: encodeBase64(prove.data.slice(62, 126)),
    },
  });
  expect([config, s.merchantPda].map((each) => ledger.account(each))).toEqual(before);
});

test("pays only what was not captured before", () => {
  const ledger = s.sessionLedger();
  for (const instructions of [captured(2n, 1), captured(7n, 1), captured(8n, 5)])
    ledger.do(instructions, [s.stranger]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(8n);
  expect(s.readEscrow(ledger)).toMatchObject({ released: 8n, deliveries: 5 });
});

test("of all leaves the session Pending and its vault open", () => {
  const ledger = s.sessionLedger();
  ledger.do(captured(s.AMOUNT, 9), [s.stranger]);
  expect(tokenBalance(ledger, s.vault)).toBe(0n);
  expect(s.readEscrow(ledger)).toMatchObject({ state: "Pending", released: s.AMOUNT });
});

describe("a voucher may allow more than is attested:", () => {
  test.each([
    ["a greater total", { total: s.AMOUNT }],
    ["a total above the escrow's amount", { total: 2n ** 64n - 1n }],
    ["a greater count", { count: 2 ** 32 - 1 }],
    ["the closing one", { isClosing: true }],
  ])("%s", (_, voucher) => {
    const ledger = s.sessionLedger();
    ledger.do([s.proveInstruction({ total: 7n, deliveries: 1, voucher }), capture], [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ released: 7n, deliveries: 1 });
  });
});

describe("an attestation", () => {
  const sent = (attested: bigint, at_: bigint) => {
    const ledger = at(s.START + at_, s.sessionLedger());
    const attestation = { timestamp: s.START + attested };
    return ledger.send(
      [s.proveInstruction({ total: 7n, deliveries: 1, attestation }), capture],
      [s.stranger],
    ).refusal;
  };

  test.each([
    ["may be as old as the session", 0n, BigInt(s.TTL_SECONDS) - 1n, undefined],
    ["may be 30 s ahead", 130n, 100n, undefined],
    ["may be 30 s ahead in the last second", 3629n, 3599n, undefined],
    ["may not be 31 s ahead", 131n, 100n, "6044 AttestationFromFuture"],
    ["may not be from before the session", -1n, 0n, "6045 AttestationOutsideEscrow"],
  ])("%s", (_, attested, at_, expected) => {
    expect(sent(attested, at_)).toBe(expected);
  });

  test("may be older than that of the capture before", () => {
    const ledger = s.sessionLedger();
    const of = (total: bigint, timestamp: bigint) => [
      s.proveInstruction({ total, deliveries: 1, attestation: { timestamp } }),
      capture,
    ];
    ledger.time = s.START + 60n;
    ledger.do(of(7n, s.START + 60n), [s.stranger]);
    ledger.do(of(8n, s.START), [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ attestation: { attestedAt: s.START } });
  });

  test("may count no more deliveries than before", () => {
    const ledger = capturedLedger();
    ledger.do(captured(CAPTURED + 1n, 3), [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ released: CAPTURED + 1n, deliveries: 3 });
  });
});

test("the first proof that names this session counts, others are passed over: one capture a transaction", () => {
  const ledger = s.sessionLedger();
  const terms = s.hashOf(9);
  const other = s.proveInstruction({ total: 1n, deliveries: 1, attestation: { terms } });
  ledger.do([other, s.attestInstruction(), ...captured(7n, 2)], [s.stranger]);
  expect(s.readEscrow(ledger).released).toBe(7n);
  const [stale, fit] = [7n, 9n].map((total) => s.proveInstruction({ total, deliveries: 2 }));
  if (stale === undefined || fit === undefined) throw new Error("two proofs");
  expect(ledger.send([stale, fit, capture], [s.stranger]).refusal).toBe("6015 InvalidAmount");
  ledger.do([fit, stale, capture], [s.stranger]);
  expect(s.readEscrow(ledger).released).toBe(9n);
});

test("one transaction captures two sessions, each by its own proof", () => {
  const ledger = s.sessionLedger();
  const taskHash = s.hashOf(0x35);
  ledger.do([s.createInstruction({ taskHash, sessionKey: s.sessionKey.address })], [s.agent]);
  const second = s.escrowOf(taskHash);
  const terms = s.termsOn(ledger, second);
  const named = { attestation: { terms }, voucher: { terms } };
  ledger.do(
    [
      s.proveInstruction({ total: 5n, deliveries: 1 }),
      s.proveInstruction({ total: 6n, deliveries: 1, ...named }),
      s.captureInstruction({ escrow: second }),
      capture,
    ],
    [s.stranger],
  );
  expect(s.readEscrow(ledger).released).toBe(5n);
  expect(s.readEscrow(ledger, second).released).toBe(6n);
});

test("works until the last second, of a closed session until it ends", () => {
  at(EXPIRY - 1n, s.sessionLedger()).do(captured(7n, 1), [s.stranger]);
  at(CLOSES_AT - 1n, closedLedger()).do(captured(7n, 1), [s.stranger]);
});

test("a merchant suspended meanwhile is still paid", () => {
  const ledger = s.sessionLedger();
  const admin = s.upgradeAuthority.address;
  const suspend = { admin, merchant: s.merchant.address, status: "Suspended" } as const;
  ledger.do([setMerchantStatusInstruction(s.deployment, suspend)], [s.upgradeAuthority]);
  ledger.do(captured(7n, 1), [s.stranger]);
});

test("a merchant that revokes captures in the same transaction before", () => {
  const ledger = s.sessionLedger();
  ledger.do([...captured(7n, 1), rotate(newKey, true)], [s.merchant]);
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(7n);
  expect(ledger.send(captured(8n, 1), [s.stranger]).refusal).toBe("6046 EscrowRevoked");
  ledger.time = EXPIRY;
  ledger.do([refund], [s.stranger]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - 7n);
});

test("pays the merchant's fallback account when the associated one has another owner", () => {
  const ledger = givenAway(s.merchant, s.merchantTokens, s.sessionLedger());
  putTokenAccount(ledger, s.merchant.address, s.mint, 0n, nowhere);
  const prove = s.proveInstruction({ total: 7n, deliveries: 1 });
  ledger.do([prove, s.captureInstruction({ merchantFallbackAccount: nowhere })], [s.stranger]);
  expect(tokenBalance(ledger, nowhere)).toBe(7n);
});

test("tokens that a stranger sent into the vault do not count as captured and go to the agent", () => {
  const ledger = s.sessionLedger();
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
  ledger.do(captured(s.AMOUNT, 9), [s.stranger]);
  expect(tokenBalance(ledger, s.vault)).toBe(9n);
  ledger.time = EXPIRY;
  ledger.do([refund], [s.stranger]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_009n - s.AMOUNT);
});

test("of the greatest amount there is, no total wraps round", () => {
  const ledger = s.merchantLedger();
  const amount = 2n ** 64n - 1n;
  putTokenAccount(ledger, s.agent.address, s.mint, amount);
  ledger.do([s.createInstruction({ amount, sessionKey: s.sessionKey.address })], [s.agent]);
  const terms = s.termsOn(ledger, s.escrow);
  const of = (total: bigint) => [
    s.proveInstruction({ total, deliveries: 1, attestation: { terms }, voucher: { terms } }),
    capture,
  ];
  ledger.do(of(amount), [s.stranger]);
  // More in the vault, and an emptied account of the merchant: only the rule is in the way.
  putTokenAccount(ledger, s.escrow, s.mint, 1_000n);
  putTokenAccount(ledger, s.merchant.address, s.mint, 0n);
  for (const total of [0n, 1n, 7n, amount])
    expect(ledger.send(of(total), [s.stranger]).refusal).toBe("6015 InvalidAmount");
});

test("every base unit goes to one of the two, whatever is captured and released, and whatever a stranger sent", () => {
  const u64 = 2n ** 64n - 1n;
  const cases = fc
    .bigInt({ min: 3n, max: u64 })
    .chain((amount) =>
      fc.tuple(
        fc.constant(amount),
        fc.bigInt({ min: 1n, max: amount - 1n }),
        fc.bigInt({ min: 1n, max: amount }),
        fc.bigInt({ min: 0n, max: u64 - amount }),
      ),
    );
  fc.assert(
    fc.property(cases, ([amount, first, other, extra]) => {
      const [early, total] = first < other ? [first, other] : [other, first];
      const ledger = s.merchantLedger();
      putTokenAccount(ledger, s.agent.address, s.mint, amount);
      ledger.do([s.createInstruction({ amount, sessionKey: s.sessionKey.address })], [s.agent]);
      putTokenAccount(ledger, s.escrow, s.mint, amount + extra);
      const terms = s.termsOn(ledger, s.escrow);
      const prove = (of: bigint, isFinal: boolean) =>
        s.proveInstruction({
          total: of,
          deliveries: 1,
          isFinal,
          attestation: { terms },
          voucher: { terms },
        });
      ledger.do([prove(early, false), capture], [s.stranger]);
      ledger.do([prove(total, true), s.releaseInstruction()], [s.stranger]);
      const isWhole = total === amount;
      if (!isWhole) ledger.do([refund], [s.stranger]);
      expect(tokenBalance(ledger, s.merchantTokens)).toBe(isWhole ? amount + extra : total);
      expect(tokenBalance(ledger, s.agentTokens)).toBe(isWhole ? 0n : amount - total + extra);
      expect(s.readEscrow(ledger)).toMatchObject({ amount, released: total });
    }),
    { numRuns: 10 },
  );
});

describe("close_session", () => {
  test("ends the session a quarter of an hour later, and pays nobody", () => {
    const ledger = capturedLedger();
    ledger.time = s.START + 60n;
    const before = ledger.account(custodyConfigAddress(s.deployment).address);
    ledger.do([close], [s.agent]);
    expect(ledger.account(before.address)).toEqual(before);
    expect(s.readEscrow(ledger)).toMatchObject({
      state: "Pending",
      released: CAPTURED,
      expiresAt: EXPIRY,
      closesAt: s.START + 960n,
    });
  });

  test.each([
    ["at once", 0n, 900n],
    ["901 s before expiry", 2699n, 3599n],
    ["900 s before expiry", 2700n, 3600n],
    ["899 s before expiry", 2701n, 3600n],
    ["in the last second", 3599n, 3600n],
  ])("%s: at most at its expiry", (_, after, closesAfter) => {
    const ledger = at(s.START + after, s.sessionLedger());
    ledger.do([close], [s.agent]);
    expect(s.readEscrow(ledger).closesAt).toBe(s.START + closesAfter);
  });

  test("leaves the merchant the time to release", () => {
    const ledger = at(CLOSES_AT - 1n, closedLedger(capturedLedger()));
    ledger.time = CLOSES_AT - 1n;
    const timestamp = CLOSES_AT - 1n;
    const prove = s.proveInstruction({
      total: 3_000_000n,
      deliveries: 4,
      isFinal: true,
      attestation: { timestamp },
    });
    ledger.do([prove, s.releaseInstruction()], [s.stranger]);
    expect(s.readEscrow(ledger)).toMatchObject({ settledBy: "release", closesAt: CLOSES_AT });
  });
});
