import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import { nowhere, withAccount } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

const refusal = (ledger: TestLedger, amount: bigint, instruction = s.partialInstruction(amount)) =>
  ledger.send([s.attestOn(ledger, { total: amount }), instruction], [s.stranger]).refusal;

test("pays the amount to the merchant and the rest to the agent", () => {
  const ledger = s.escrowLedger();
  const before = tokenBalance(ledger, s.agentTokens) ?? 0n;
  expect(refusal(ledger, 2_000_000n)).toBeUndefined();
  expect(tokenBalance(ledger, s.merchantTokens)).toBe(2_000_000n);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(before + 3_000_000n);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "PartiallyFulfilled",
    amount: s.AMOUNT,
    released: 2_000_000n,
    attestor: s.attestor.address,
    attestation: { proofHash: s.PROOF },
  });
});

test("every base unit goes to one of the two, whatever the amounts, and also of tokens that a stranger sent into the vault", () => {
  const u64 = 2n ** 64n - 1n;
  const amounts = fc
    .bigInt({ min: 2n, max: u64 })
    .chain((amount) =>
      fc.tuple(
        fc.constant(amount),
        fc.bigInt({ min: 1n, max: amount - 1n }),
        fc.bigInt({ min: 0n, max: u64 - amount }),
      ),
    );
  fc.assert(
    fc.property(amounts, ([amount, part, extra]) => {
      const ledger = s.merchantLedger();
      putTokenAccount(ledger, s.agent.address, s.mint, amount);
      ledger.do([s.createInstruction({ amount })], [s.agent]);
      putTokenAccount(ledger, s.escrow, s.mint, amount + extra);
      expect(refusal(ledger, part)).toBeUndefined();
      expect(tokenBalance(ledger, s.merchantTokens)).toBe(part);
      expect(tokenBalance(ledger, s.agentTokens)).toBe(amount - part + extra);
      expect(s.readEscrow(ledger)).toMatchObject({ amount, released: part });
    }),
    { numRuns: 10 },
  );
});

test("pays another account of the agent when the associated one has another owner", () => {
  const ledger = s.escrowLedger();
  putTokenAccount(ledger, s.stranger.address, s.mint, 0n, s.agentTokens);
  const other = putTokenAccount(ledger, s.agent.address, s.mint, 0n, wallet("purse").address);
  const divide = s.partialInstruction(1n, { agentFallbackAccount: other });
  expect(refusal(ledger, 1n, divide)).toBeUndefined();
  expect(tokenBalance(ledger, other)).toBe(s.AMOUNT - 1n);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(0n);
});

test.each([0n, s.AMOUNT, s.AMOUNT + 1n, 2n ** 64n - 1n])("refuses an amount of %d", (amount) => {
  expect(refusal(s.escrowLedger(), amount)).toBe("6015 InvalidAmount");
});

/** A partial release of 1 with one account replaced. */
const replaced = (ledger: TestLedger, name: string, address: typeof nowhere) =>
  refusal(ledger, 1n, withAccount(s.partialInstruction(1n), name, address));

describe("refuses", () => {
  test("an agent's payout account of another owner or mint", () => {
    const ledger = s.escrowLedger();
    for (const wrong of [
      s.merchantTokens,
      s.vault,
      nowhere,
      associatedTokenAddress(s.agent.address, s.otherMint),
    ])
      expect(replaced(ledger, "agent_token_account", wrong)).toBe("6017 WrongAgentTokenAccount");
  });

  test("a merchant's payout account of another owner", () => {
    expect(replaced(s.escrowLedger(), "merchant_token_account", s.agentTokens)).toBe(
      "6022 WrongMerchantTokenAccount",
    );
  });

  test("another rent payer, vault or attestor program", () => {
    const ledger = s.escrowLedger();
    expect(replaced(ledger, "rent_payer", s.stranger.address)).toBe("6023 WrongRentPayer");
    expect(replaced(ledger, "vault", s.agentTokens)).toBe("6021 WrongVault");
    expect(replaced(ledger, "attestor_program", s.deployment.custodyProgram)).toBe(
      "6008 WrongAttestorProgram",
    );
  });

  test("an expired escrow", () => {
    const ledger = s.escrowLedger();
    ledger.time = s.START + BigInt(s.TTL_SECONDS);
    expect(refusal(ledger, 1n)).toBe("6025 Expired");
  });
});
