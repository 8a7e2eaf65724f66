import { describe, expect, test } from "bun:test";
import { isCancelled } from "../../../core/domain/escrow/escrow.ts";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import { custodyConfigAddress } from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  at,
  cancel,
  EXPIRY,
  givenAway,
  settled,
  suspended,
} from "../fixture/settlement-attempts.ts";
import { forgeCopy, nowhere, withAccount, withData, withRole } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import type { Wallet } from "../fixture/wallet.ts";

const refusal = (
  ledger: TestLedger,
  instruction: Instruction = cancel,
  by: Wallet = s.merchant,
): string | undefined => ledger.send([instruction], [by]).refusal;

test("the merchant returns the whole vault before expiry, and the merchant's counts do not change", () => {
  const ledger = s.escrowLedger();
  const before = s.readMerchant(ledger);
  const lamports = ledger.account(s.agent.address).lamports;
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
  ledger.time = EXPIRY - 1n;
  ledger.do([cancel], [s.merchant]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_009n);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(ledger.account(s.agent.address).lamports - lamports).toBe(ledger.rentExempt(165));
  const escrow = s.readEscrow(ledger);
  expect(escrow).toMatchObject({
    state: "Refunded",
    released: 0n,
    settledAt: EXPIRY - 1n,
    attestation: null,
  });
  expect(isCancelled(escrow)).toBe(true);
  expect(s.readMerchant(ledger)).toEqual(before);
});

test("a refund by anyone after expiry is not a cancellation", () => {
  const ledger = at(EXPIRY);
  ledger.do([s.refundInstruction()], [s.merchant]);
  expect(isCancelled(s.readEscrow(ledger))).toBe(false);
});

test("a suspended merchant may give money back", () => {
  const ledger = suspended();
  ledger.do([cancel], [s.merchant]);
  expect(s.readEscrow(ledger).state).toBe("Refunded");
});

test("the money goes to the fallback when the agent's associated account has another owner", () => {
  const ledger = givenAway(s.agent, s.agentTokens);
  expect(refusal(ledger)).toBe("6030 PayoutAccountUnusable");
  putTokenAccount(ledger, s.agent.address, s.mint, 0n, nowhere);
  ledger.do([s.cancelInstruction({ agentFallbackAccount: nowhere })], [s.merchant]);
  expect(tokenBalance(ledger, nowhere)).toBe(s.AMOUNT);
});

describe("only the merchant's wallet can cancel:", () => {
  // The attestor cannot either, so that a thief of its key cannot refund a delivered escrow.
  test.each([
    ["the attestor", s.attestor],
    ["the agent", s.agent],
    ["a stranger", s.stranger],
    ["the registry's admin", s.upgradeAuthority],
  ])("not %s", (_, by) => {
    const ledger = s.escrowLedger();
    ledger.fund(by.address);
    const own = withAccount(cancel, "merchant_wallet", by.address);
    expect(refusal(ledger, own, by)).toBe("6032 NotMerchantWallet");
    const unsigned = withRole(cancel, "merchant_wallet", AccountRole.readonly);
    expect(refusal(ledger, unsigned, by)).toBe("6002 MissingSignature");
    expect(s.readEscrow(ledger).state).toBe("Pending");
  });

  test("not another merchant", () => {
    const ledger = s.escrowLedger();
    ledger.do([s.registerInstruction(s.stranger, s.attestor.address)], [s.stranger]);
    const own = withAccount(cancel, "merchant_wallet", s.stranger.address);
    expect(refusal(ledger, own, s.stranger)).toBe("6032 NotMerchantWallet");
  });
});

test("from the second of expiry on it is refused: then anyone refunds", () => {
  for (const time of [EXPIRY, EXPIRY + 1n]) expect(refusal(at(time))).toBe("6025 Expired");
});

test("a settled escrow is not cancelled, nor a cancelled one settled", () => {
  expect(refusal(settled())).toBe("6024 NotPending");
  const ledger = s.escrowLedger();
  ledger.do([cancel], [s.merchant]);
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT);
  expect(refusal(ledger)).toBe("6024 NotPending");
  const release = [s.attestInstruction(), s.releaseInstruction()];
  expect(ledger.send(release, [s.stranger]).refusal).toBe("6024 NotPending");
  ledger.time = EXPIRY;
  expect(refusal(ledger, s.refundInstruction())).toBe("6024 NotPending");
});

test("it is never partial: an amount after the arguments is refused", () => {
  const amount = Uint8Array.of(...cancel.data, 1, 0, 0, 0, 0, 0, 0, 0);
  expect(refusal(s.escrowLedger(), withData(cancel, amount))).toBe("6000 InvalidInstruction");
});

test("forged and misplaced accounts are refused", () => {
  const ledger = s.escrowLedger();
  const replaced = (name: string, address: typeof nowhere) =>
    refusal(ledger, withAccount(cancel, name, address));
  expect(replaced("escrow", forgeCopy(ledger, s.escrow))).toBe("6019 WrongEscrow");
  const config = forgeCopy(ledger, custodyConfigAddress(s.deployment).address);
  expect(replaced("config", config)).toBe("6007 WrongConfig");
  expect(replaced("vault", s.agentTokens)).toBe("6021 WrongVault");
  expect(replaced("rent_payer", s.stranger.address)).toBe("6023 WrongRentPayer");
  expect(replaced("token_program", nowhere)).toBe("6010 WrongTokenProgram");
  expect(replaced("agent_token_account", s.merchantTokens)).toBe("6017 WrongAgentTokenAccount");
  for (const name of ["escrow", "vault", "agent_token_account", "rent_payer", "config"])
    expect(refusal(ledger, withRole(cancel, name, AccountRole.readonly))).toBe(
      "6003 AccountNotWritable",
    );
});
