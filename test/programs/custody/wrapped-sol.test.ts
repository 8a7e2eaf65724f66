import { expect, test } from "bun:test";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import { rent } from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { NATIVE_MINT as mint, wrappedEscrowLedger } from "../fixture/wrapped-escrow.ts";

// A wrapped SOL account holds its tokens as lamports, together with its rent. It is the only mint for which emptying
// and closing a vault could be confused.
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
  ledger.do([s.attestOn(ledger), s.releaseInstruction({ mint }), rent], [s.stranger]);
  expect(tokenBalance(ledger, merchantTokens)).toBe(s.AMOUNT);
  expect(ledger.account(vault).lamports).toBe(0n);
  expect(ledger.account(s.agent.address).lamports - before).toBe(ledger.rentExempt(165) + 11n);
});

test("an escrow of wrapped SOL is divided or refunded like any other", () => {
  const divided = dustedEscrowLedger();
  const attest = s.attestOn(divided, { total: 7n });
  const settle = [attest, s.releaseInstruction({ mint }), s.refundInstruction({ mint }), rent];
  divided.do(settle, [s.stranger]);
  expect(tokenBalance(divided, merchantTokens)).toBe(7n);
  expect(tokenBalance(divided, agentTokens)).toBe(s.AMOUNT - 7n);

  const refunded = dustedEscrowLedger();
  refunded.time = s.START + BigInt(s.TTL_SECONDS);
  refunded.do([s.refundInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(refunded, agentTokens)).toBe(s.AMOUNT);
});

test("a session of wrapped SOL is captured, settled and paid back like any other", () => {
  const ledger = wrappedEscrowLedger({ sessionKey: s.sessionKey.address });
  const terms = s.termsOn(ledger, s.escrow);
  const named = { attestation: { terms }, voucher: { terms } };
  const [escrowLamports, agentLamports] = [s.escrow, s.agent.address].map(
    (each) => ledger.account(each).lamports,
  );
  const prove = s.proveInstruction({ total: 7n, deliveries: 1, ...named });
  ledger.do([prove, s.captureInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(ledger, merchantTokens)).toBe(7n);
  const final = s.proveInstruction({ total: 9n, deliveries: 2, isFinal: true, ...named });
  ledger.do(
    [final, s.releaseInstruction({ mint }), s.refundInstruction({ mint }), rent],
    [s.stranger],
  );
  expect(tokenBalance(ledger, merchantTokens)).toBe(9n);
  expect(tokenBalance(ledger, agentTokens)).toBe(s.AMOUNT - 9n);
  expect(ledger.account(s.escrow).lamports).toBe(escrowLamports ?? 0n);
  expect(ledger.account(s.agent.address).lamports).toBe(
    (agentLamports ?? 0n) + ledger.rentExempt(165),
  );
});
