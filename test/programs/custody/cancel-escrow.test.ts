import { describe, expect, test } from "bun:test";
import { isCancelled } from "../../../core/domain/escrow/escrow.ts";
import * as s from "../fixture/settlement.ts";
import {
  at,
  cancel,
  CAPTURED,
  capturedLedger,
  closedLedger,
  CLOSES_AT,
  EXPIRY,
  refund,
  removed,
  rent,
  suspended,
} from "../fixture/settlement-attempts.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";

// What is refused: fixture/refused-settlements/refused-cancellations.ts.

test("the merchant settles before expiry without touching a token, and its counts do not change", () => {
  const ledger = s.escrowLedger();
  const before = s.readMerchant(ledger);
  ledger.time = EXPIRY - 1n;
  const vault = ledger.account(s.vault);
  ledger.do([cancel], [s.merchant]);
  expect(ledger.account(s.vault)).toEqual(vault);
  const escrow = s.readEscrow(ledger);
  expect(escrow).toMatchObject({
    state: "Refunded",
    settledBy: "cancel",
    released: 0n,
    settledAt: EXPIRY - 1n,
    attestation: null,
  });
  expect(isCancelled(escrow)).toBe(true);
  expect(s.readMerchant(ledger)).toEqual(before);
});

test("the agent then has all that the vault holds, by anyone, at once or later", () => {
  const ledger = s.escrowLedger();
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
  const lamports = ledger.account(s.agent.address).lamports;
  ledger.do([cancel, refund, rent], [s.merchant]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_009n);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(ledger.account(s.agent.address).lamports - lamports).toBe(ledger.rentExempt(165));

  const later = s.escrowLedger();
  later.do([cancel], [s.merchant]);
  later.time = EXPIRY + 1n;
  later.do([refund], [s.stranger]);
  expect(tokenBalance(later, s.agentTokens)).toBe(1_000_000_000n);
  expect(s.readEscrow(later).settledBy).toBe("cancel");
});

test("a session is settled with what was captured", () => {
  const ledger = capturedLedger();
  ledger.do([cancel], [s.merchant]);
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "PartiallyFulfilled",
    settledBy: "cancel",
    released: CAPTURED,
    deliveries: 3,
    attestation: { proofHash: s.PROOF },
  });
  expect(s.readMerchant(ledger)).toMatchObject({ deliveries: 0n, partialDeliveries: 0n });
  ledger.do([refund], [s.stranger]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - CAPTURED);
});

test("a session of which all was captured is Fulfilled by its cancellation", () => {
  const ledger = s.sessionLedger();
  const prove = s.proveInstruction({ total: s.AMOUNT, deliveries: 9 });
  ledger.do([prove, s.captureInstruction()], [s.stranger]);
  ledger.do([cancel], [s.merchant]);
  expect(s.readEscrow(ledger)).toMatchObject({ state: "Fulfilled", settledBy: "cancel" });
});

test("a closed session can be cancelled until it ends", () => {
  const ledger = at(CLOSES_AT - 1n, closedLedger());
  ledger.do([cancel], [s.merchant]);
  expect(s.readEscrow(ledger)).toMatchObject({ settledBy: "cancel", closesAt: CLOSES_AT });
});

test("a refund by anyone after expiry is not a cancellation", () => {
  const ledger = at(EXPIRY);
  ledger.do([refund], [s.merchant]);
  expect(isCancelled(s.readEscrow(ledger))).toBe(false);
});

test("a suspended merchant may give money back", () => {
  const ledger = suspended();
  ledger.do([cancel], [s.merchant]);
  expect(s.readEscrow(ledger).state).toBe("Refunded");
});

describe("nothing that the agent does to its own accounts blocks it:", () => {
  test("it needs no account of the agent", () => {
    const ledger = removed(s.agentTokens, s.escrowLedger());
    ledger.do([cancel], [s.merchant]);
    expect(ledger.send([refund], [s.stranger]).refusal).toBe("6030 PayoutAccountUnusable");
    putTokenAccount(ledger, s.agent.address, s.mint, 0n);
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(s.AMOUNT);
  });
});
