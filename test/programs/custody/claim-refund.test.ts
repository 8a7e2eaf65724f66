import { describe, expect, test } from "bun:test";
import { AccountRole, type Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import * as s from "../fixture/settlement.ts";
import {
  deployAcceptEverything,
  forgeCopy,
  nowhere,
  withAccount,
  withData,
  withRole,
} from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

const EXPIRY = s.START + BigInt(s.TTL_SECONDS);
const refund = s.refundInstruction();

const expiredLedger = (): TestLedger => {
  const ledger = s.escrowLedger();
  ledger.time = EXPIRY;
  return ledger;
};

const refusal = (ledger: TestLedger, instruction: Instruction = refund): string | undefined =>
  ledger.send([instruction], [s.stranger]).refusal;

test("anyone returns the whole vault to the agent from the second of expiry on", () => {
  const ledger = expiredLedger();
  const lamports = ledger.account(s.agent.address).lamports;
  ledger.do([refund], [s.stranger]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n);
  expect(tokenBalance(ledger, s.vault)).toBeUndefined();
  expect(ledger.account(s.agent.address).lamports - lamports).toBe(ledger.rentExempt(165));
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Refunded",
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
    const timestamp = EXPIRY - 1n;
    const release = [s.attestInstruction({ timestamp }), s.releaseInstruction({ timestamp })];
    const [one, other] = [s.escrowLedger(), s.escrowLedger()];
    one.time = other.time = EXPIRY + second;
    const released = one.send(release, [s.stranger]).refusal === undefined;
    expect(refusal(other) === undefined).toBe(!released);
  }
});

test("tokens that a stranger sent into the vault go to the agent too", () => {
  const ledger = expiredLedger();
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT + 9n);
  ledger.do([refund], [s.stranger]);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_009n);
});

test("is refused a second time, and so is a release after it", () => {
  const ledger = expiredLedger();
  ledger.do([refund], [s.stranger]);
  putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT);
  expect(refusal(ledger)).toBe("6024 NotPending");
  ledger.time = s.START;
  const release = [s.attestInstruction(), s.releaseInstruction()];
  expect(ledger.send(release, [s.stranger]).refusal).toBe("6024 NotPending");
});

/** The refund with one account replaced. */
const replaced = (ledger: TestLedger, name: string, address: typeof nowhere) =>
  refusal(ledger, withAccount(refund, name, address));

describe("refuses", () => {
  test("a payout account of another owner or mint", () => {
    const ledger = expiredLedger();
    for (const wrong of [
      s.merchantTokens,
      s.vault,
      nowhere,
      associatedTokenAddress(s.agent.address, s.otherMint),
      putTokenAccount(ledger, s.stranger.address, s.mint, 0n),
      putTokenAccount(ledger, s.agent.address, s.mint, 0n, wallet("purse").address),
    ])
      expect(replaced(ledger, "agent_token_account", wrong)).toBe("6017 WrongAgentTokenAccount");
  });

  test("the agent's associated account after a change of owner, and pays the agent's fallback account instead", () => {
    const ledger = expiredLedger();
    putTokenAccount(ledger, s.stranger.address, s.mint, 0n, s.agentTokens);
    expect(refusal(ledger)).toBe("6030 PayoutAccountUnusable");
    const other = putTokenAccount(ledger, s.agent.address, s.mint, 0n, wallet("purse").address);
    expect(replaced(ledger, "agent_token_account", other)).toBe("6017 WrongAgentTokenAccount");
    expect(refusal(ledger, s.refundInstruction({ agentFallbackAccount: other }))).toBeUndefined();
    expect(tokenBalance(ledger, other)).toBe(s.AMOUNT);
  });

  test("a forged escrow or config, a strange vault, another rent payer, a fake token program", () => {
    const ledger = expiredLedger();
    expect(replaced(ledger, "escrow", forgeCopy(ledger, s.escrow))).toBe("6019 WrongEscrow");
    const at = wallet("strange vault").address;
    putTokenAccount(ledger, s.escrow, s.mint, s.AMOUNT, at);
    expect(replaced(ledger, "vault", at)).toBe("6021 WrongVault");
    expect(replaced(ledger, "rent_payer", s.stranger.address)).toBe("6023 WrongRentPayer");
    const config = forgeCopy(ledger, custodyConfigAddress(s.deployment).address);
    expect(replaced(ledger, "config", config)).toBe("6007 WrongConfig");
    const fake = deployAcceptEverything(ledger);
    expect(replaced(ledger, "token_program", fake)).toBe("6010 WrongTokenProgram");
  });

  test("a malformed instruction", () => {
    const ledger = expiredLedger();
    expect(refusal(ledger, withData(refund, Uint8Array.of(...refund.data, 0)))).toBe(
      "6000 InvalidInstruction",
    );
    expect(refusal(ledger, { ...refund, accounts: refund.accounts.slice(1) })).toBe(
      "6001 MissingAccount",
    );
    for (const name of ["escrow", "vault", "agent_token_account", "rent_payer", "config"])
      expect(refusal(ledger, withRole(refund, name, AccountRole.readonly))).toBe(
        "6003 AccountNotWritable",
      );
  });
});
