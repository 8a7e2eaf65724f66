import { expect, test } from "bun:test";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { NATIVE_MINT as mint, wrappedEscrowLedger } from "../fixture/wrapped-escrow.ts";

// A wrapped SOL account holds its tokens as lamports, together with the rent that settlement returns. It is the only
// mint for which emptying and closing a vault could be confused.
const vault = associatedTokenAddress(s.escrow, mint);
const agentTokens = associatedTokenAddress(s.agent.address, mint);
const merchantTokens = associatedTokenAddress(s.merchant.address, mint);

// Lamports that a stranger sends to the vault without SyncNative do not count as tokens.
const dustedEscrowLedger = (): TestLedger => {
  const ledger = wrappedEscrowLedger();
  const account = ledger.account(vault);
  ledger.set({ ...account, lamports: account.lamports + 11n });
  return ledger;
};

test("an escrow of wrapped SOL pays the merchant its tokens and the rent payer the rest", () => {
  const ledger = dustedEscrowLedger();
  const before = ledger.account(s.agent.address).lamports;
  ledger.do([s.attestOn(ledger), s.releaseInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(ledger, merchantTokens)).toBe(s.AMOUNT);
  expect(ledger.account(vault).lamports).toBe(0n);
  expect(ledger.account(s.agent.address).lamports - before).toBe(ledger.rentExempt(165) + 11n);
});

test("an escrow of wrapped SOL is divided or refunded like any other", () => {
  const divided = dustedEscrowLedger();
  const attest = s.attestOn(divided, { total: 7n });
  divided.do([attest, s.partialInstruction(7n, { mint })], [s.stranger]);
  expect(tokenBalance(divided, merchantTokens)).toBe(7n);
  expect(tokenBalance(divided, agentTokens)).toBe(s.AMOUNT - 7n);

  const refunded = dustedEscrowLedger();
  refunded.time = s.START + BigInt(s.TTL_SECONDS);
  refunded.do([s.refundInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(refunded, agentTokens)).toBe(s.AMOUNT);
});
