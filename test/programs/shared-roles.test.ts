import { describe, expect, test } from "bun:test";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import * as s from "./fixture/settlement.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "./fixture/token-account.ts";

const { merchant, merchantTokens } = s;

/** The escrow in which the merchant is its own agent. */
const own = escrowAddress(s.deployment, merchant.address, s.TASK).address;
const ownVault = associatedTokenAddress(own, s.mint);
const ofOwn = { escrow: own };
const refundOfOwn = s.refundInstruction({ escrow: own, agentOwner: merchant.address });
const HELD = 9_000_000n;

const ownLedger = (): TestLedger => {
  const ledger = s.merchantLedger();
  putTokenAccount(ledger, merchant.address, s.mint, HELD);
  const terms = { payer: merchant.address, agentOwner: merchant.address };
  ledger.do([s.createInstruction(terms)], [merchant]);
  expect(tokenBalance(ledger, merchantTokens)).toBe(HELD - s.AMOUNT);
  return ledger;
};

describe("a merchant that is its own agent has the same balance before and after settlement", () => {
  const settle = (ledger: TestLedger, ...instructions: Parameters<TestLedger["do"]>[0]) => {
    ledger.do(instructions, [s.stranger]);
    expect(tokenBalance(ledger, merchantTokens)).toBe(HELD);
    expect(tokenBalance(ledger, ownVault)).toBeUndefined();
    return s.readEscrow(ledger, own);
  };

  test("by a release", () => {
    const ledger = ownLedger();
    const attested = s.attestOn(ledger, { escrow: own });
    const escrow = settle(ledger, attested, s.releaseInstruction(ofOwn));
    expect(escrow).toMatchObject({ state: "Fulfilled", released: s.AMOUNT });
  });

  test("by a release of a part and the refund of the rest, to one account", () => {
    const ledger = ownLedger();
    const attested = s.attestOn(ledger, { escrow: own, total: 2n });
    const escrow = settle(ledger, attested, s.releaseInstruction(ofOwn), refundOfOwn);
    expect(escrow).toMatchObject({ state: "PartiallyFulfilled", released: 2n });
  });

  test("by a refund", () => {
    const ledger = ownLedger();
    ledger.time += BigInt(s.TTL_SECONDS);
    expect(settle(ledger, refundOfOwn)).toMatchObject({ state: "Refunded" });
  });
});

test.each([
  ["the merchant", s.merchant],
  ["a stranger", s.stranger],
])("%s may pay the rent, and gets the vault's rent back", (_, payer) => {
  const ledger = s.merchantLedger();
  ledger.do([s.createInstruction({ payer: payer.address })], [payer, s.agent]);
  const before = ledger.account(payer.address).lamports;
  const rent = ledger.account(s.vault).lamports;
  const returned = s.rentInstruction({ rentPayer: payer.address });
  ledger.do([s.attestOn(ledger), s.releaseInstruction(), returned], [s.agent]);
  expect(ledger.account(payer.address).lamports).toBe(before + rent);
});
