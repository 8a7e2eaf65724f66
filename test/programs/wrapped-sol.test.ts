import { expect, test } from "bun:test";
import { address } from "../../core/domain/address.ts";
import { type Instruction, writable, writableSigner } from "../../core/domain/instruction.ts";
import { associatedTokenAddress } from "../../core/protocol/addresses.ts";
import { fieldWriter } from "../../core/protocol/byte-fields.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/token.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from "../../core/protocol/well-known-addresses.ts";
import * as s from "./fixture/settlement.ts";
import { putMint, tokenBalance } from "./fixture/token-account.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";

// A wrapped SOL account holds its tokens as lamports, beside the rent that settlement returns: the one mint for which
// emptying and closing a vault could be confused.
const mint = address("So11111111111111111111111111111111111111112");
const vault = associatedTokenAddress(s.escrow, mint);
const agentTokens = associatedTokenAddress(s.agent.address, mint);
const merchantTokens = associatedTokenAddress(s.merchant.address, mint);

const transfer = (lamports: bigint): Instruction => ({
  programAddress: SYSTEM_PROGRAM,
  accounts: [writableSigner(s.agent.address), writable(agentTokens)],
  data: fieldWriter(12).u32(2).u64(lamports).done(),
});
const syncNative: Instruction = {
  programAddress: TOKEN_PROGRAM,
  accounts: [writable(agentTokens)],
  data: Uint8Array.of(17),
};

const wrappedEscrowLedger = (): TestLedger => {
  const ledger = s.merchantLedger();
  putMint(ledger, mint);
  const associated = (owner: typeof s.escrow): Instruction =>
    createAssociatedTokenInstruction({ payer: s.agent.address, owner, mint });
  ledger.do(
    [
      associated(s.agent.address),
      associated(s.merchant.address),
      transfer(s.AMOUNT),
      syncNative,
      s.createInstruction({ mint }),
    ],
    [s.agent],
  );
  // Lamports that a stranger sends to the vault without telling the token program are nobody's tokens.
  const account = ledger.account(vault);
  ledger.set({ ...account, lamports: account.lamports + 11n });
  return ledger;
};

test("an escrow of wrapped SOL pays the merchant its tokens and the rent payer the rest", () => {
  const ledger = wrappedEscrowLedger();
  const before = ledger.account(s.agent.address).lamports;
  ledger.do([s.attestInstruction(), s.releaseInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(ledger, merchantTokens)).toBe(s.AMOUNT);
  expect(ledger.account(vault).lamports).toBe(0n);
  expect(ledger.account(s.agent.address).lamports - before).toBe(ledger.rentExempt(165) + 11n);
});

test("and is divided or refunded like any other", () => {
  const divided = wrappedEscrowLedger();
  const attest = s.attestInstruction({ partialAmount: 7n });
  divided.do([attest, s.partialInstruction(7n, { mint })], [s.stranger]);
  expect(tokenBalance(divided, merchantTokens)).toBe(7n);
  expect(tokenBalance(divided, agentTokens)).toBe(s.AMOUNT - 7n);

  const refunded = wrappedEscrowLedger();
  refunded.time = s.START + BigInt(s.TTL_SECONDS);
  refunded.do([s.refundInstruction({ mint })], [s.stranger]);
  expect(tokenBalance(refunded, agentTokens)).toBe(s.AMOUNT);
});
