import { describe, expect, test } from "bun:test";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  ARCHIVABLE,
  at,
  attest,
  attestPart,
  cancel,
  CAPTURED,
  captured,
  capturedLedger,
  closedLedger,
  CLOSES_AT,
  EXPIRY,
  givenAway,
  lastBytesOf,
  refund,
  release,
  released,
  settledSession,
} from "../fixture/settlement-attempts.ts";
import { nowhere } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";

// What is refused: fixture/refused-settlements/refused-refunds.ts.

const refusal = (ledger: TestLedger): string | undefined =>
  ledger.send([refund], [s.stranger]).refusal;

const configOn = (ledger: TestLedger) =>
  ledger.account(custodyConfigAddress(s.deployment).address).data;

describe("of an escrow that is Pending", () => {
  test("anyone returns the whole vault to the agent from the second of expiry on, and settles", () => {
    const ledger = at(EXPIRY);
    const { lamports } = ledger.account(s.escrow);
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect(ledger.account(s.escrow).lamports - lamports).toBe(ledger.rentExempt(165));
    expect(s.readEscrow(ledger)).toMatchObject({
      state: "Refunded",
      settledBy: "refund",
      released: 0n,
      settledAt: EXPIRY,
      attestation: null,
    });
  });

  test("is refused until the second of expiry", () => {
    const ledger = s.escrowLedger();
    for (const time of [s.START, EXPIRY - 1n]) {
      ledger.time = time;
      expect(refusal(ledger)).toBe("6026 NotExpired");
    }
  });

  test("at no second do both a release and a refund work, or neither", () => {
    for (const second of [-2n, -1n, 0n, 1n, 29n]) {
      const instructions = [s.attestInstruction({ timestamp: EXPIRY - 1n }), release];
      const [one, other] = [s.escrowLedger(), s.escrowLedger()];
      one.time = other.time = EXPIRY + second;
      const isReleased = one.send(instructions, [s.stranger]).refusal === undefined;
      expect(refusal(other) === undefined).toBe(!isReleased);
    }
  });

  test("at no second do both a capture of a closed session and its refund work, or neither", () => {
    for (const second of [-2n, -1n, 0n, 1n, 29n]) {
      const [one, other] = [closedLedger(), closedLedger()];
      one.time = other.time = CLOSES_AT + second;
      const isCaptured = one.send(captured(2n, 1), [s.stranger]).refusal === undefined;
      expect(refusal(other) === undefined).toBe(!isCaptured);
    }
  });

  test("tokens that a stranger sent into the vault go to the agent too", () => {
    const ledger = at(EXPIRY);
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_009n);
  });

  test("of a session gives back what was not captured", () => {
    const ledger = at(EXPIRY, capturedLedger());
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - CAPTURED);
    expect(s.readEscrow(ledger)).toMatchObject({
      state: "PartiallyFulfilled",
      settledBy: "refund",
      released: CAPTURED,
      deliveries: 3,
    });
  });

  test("of a closed session needs nobody a quarter of an hour later", () => {
    const ledger = at(CLOSES_AT, closedLedger());
    ledger.do([refund], [s.agent]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n);
  });

  test("names no account of the agent when all was captured, and closes the empty vault", () => {
    const ledger = s.sessionLedger();
    ledger.do(captured(s.AMOUNT, 9), [s.stranger]);
    ledger.time = EXPIRY;
    ledger.do([s.refundInstruction({ agentOwner: null })], [s.stranger]);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect(s.readEscrow(ledger)).toMatchObject({ state: "Fulfilled", settledBy: "refund" });
  });

  test("does not look at the agent's accounts when the vault is empty", () => {
    const ledger = s.sessionLedger();
    ledger.do(captured(s.AMOUNT, 9), [s.stranger]);
    givenAway(s.agent, s.agentTokens, ledger);
    ledger.time = EXPIRY;
    ledger.do([refund], [s.stranger]);
    expect(s.readEscrow(ledger).state).toBe("Fulfilled");
  });
});

const ENDINGS = [
  ["a release of a part", s.escrowLedger, [attestPart(2n), release], s.stranger, 2n],
  ["a session's release", capturedLedger, released(3_000_000n, 4), s.stranger, 3_000_000n],
  [
    "a session's release of what was captured",
    capturedLedger,
    released(CAPTURED, 3),
    s.stranger,
    CAPTURED,
  ],
  ["a cancellation", s.escrowLedger, [cancel], s.merchant, 0n],
  ["a session's cancellation", capturedLedger, [cancel], s.merchant, CAPTURED],
] as const;

describe.each(ENDINGS)("after %s", (_, begin, instructions, by, paid) => {
  const settledBy = (): TestLedger => {
    const ledger = begin();
    ledger.do([...instructions], [by]);
    return ledger;
  };

  test("pays the agent all that the vault holds, and changes no byte of escrow and config", () => {
    const ledger = settledBy();
    const before = [lastBytesOf(ledger), configOn(ledger)];
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - paid);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(paid);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect([lastBytesOf(ledger), configOn(ledger)]).toEqual(before);
  });

  test("does the same when the escrow is archived, with its last bytes", () => {
    const ledger = settledBy();
    const lastBytes = lastBytesOf(ledger);
    ledger.time = ARCHIVABLE;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    const before = [lastBytesOf(ledger), configOn(ledger)];
    ledger.do([s.refundInstruction({ lastBytes })], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - paid);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
    expect([lastBytesOf(ledger), configOn(ledger)]).toEqual(before);
  });

  test("asks nothing of what the vault holds", () => {
    const ledger = settledBy();
    putTokenAccount(ledger, s.escrow, s.mint, 1n);
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - s.AMOUNT + 1n);
  });

  test("closes an empty vault without any account of the agent", () => {
    const ledger = settledBy();
    putTokenAccount(ledger, s.escrow, s.mint, 0n);
    ledger.do([s.refundInstruction({ agentOwner: null })], [s.stranger]);
    expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  });

  test("works again for a vault that a stranger makes and fills anew", () => {
    const ledger = settledBy();
    ledger.do([refund], [s.stranger]);
    putTokenAccount(ledger, s.escrow, s.mint, 5n);
    ledger.do([refund], [s.stranger]);
    expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_005n - paid);
  });
});

test("pays the agent's fallback account when the associated one has another owner", () => {
  const ledger = givenAway(s.agent, s.agentTokens, settledSession());
  expect(refusal(ledger)).toBe("6030 PayoutAccountUnusable");
  putTokenAccount(ledger, s.agent.address, s.mint, 0n, nowhere);
  ledger.do([s.refundInstruction({ agentFallbackAccount: nowhere })], [s.stranger]);
  expect(tokenBalance(ledger, nowhere)).toBe(s.AMOUNT - 3_000_000n);
});

test("a refund settles once: what comes after it settles nothing", () => {
  const ledger = at(EXPIRY);
  ledger.do([refund], [s.stranger]);
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT);
  ledger.time = s.START;
  expect(ledger.send([attest, release], [s.stranger]).refusal).toBe("6024 NotPending");
  expect(ledger.send([cancel], [s.merchant]).refusal).toBe("6024 NotPending");
});
