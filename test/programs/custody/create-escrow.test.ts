import { describe, expect, test } from "bun:test";
import { Rent } from "litesvm";
import { AccountRole, readonly } from "../../../core/domain/ledger/instruction.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  associatedToken,
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { setMerchantStatusInstruction } from "../../../core/protocol/instructions/attestor-instructions.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
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

const create = s.createInstruction();

const refusal = (ledger: TestLedger, instruction: Instruction): string | undefined =>
  ledger.send([instruction], [s.agent]).refusal;

test("moves the agent's tokens into the vault and records parties, task and expiry", () => {
  const ledger = s.merchantLedger();
  const payer = s.stranger;
  ledger.do([s.createInstruction({ payer: payer.address })], [payer, s.agent]);
  expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT);
  expect(tokenBalance(ledger, s.agentTokens)).toBe(1_000_000_000n - s.AMOUNT);
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Pending",
    agentOwner: s.agent.address,
    merchant: s.merchant.address,
    mint: s.mint,
    rentPayer: payer.address,
    taskHash: s.TASK,
    amount: s.AMOUNT,
    released: 0n,
    createdAt: s.START,
    expiresAt: s.START + BigInt(s.TTL_SECONDS),
    settledAt: null,
    attestor: s.attestor.address,
    attestation: null,
    vaultBump: associatedToken(s.escrow, s.mint).bump,
    createdSeq: 1n,
    settledSeq: null,
    sessionKey: null,
    deliveries: 0,
    settledBy: null,
    closesAt: null,
  });
});

test("with a session key records a session", () => {
  const ledger = s.sessionLedger();
  expect(s.readEscrow(ledger)).toMatchObject({
    state: "Pending",
    sessionKey: s.sessionKey.address,
    released: 0n,
    deliveries: 0,
  });
  expect(s.termsOn(ledger, s.escrow)).toBe(s.SESSION_TERMS);
});

test.each([1n, 59n, 604_800n])(
  "ends %d s from now when the agent says so by the second",
  (after) => {
    const ledger = s.merchantLedger();
    ledger.do([s.createInstruction({ ttlSeconds: 0, expiresAt: s.START + after })], [s.agent]);
    expect(s.readEscrow(ledger)).toMatchObject({
      createdAt: s.START,
      expiresAt: s.START + after,
    });
  },
);

describe("survives what anyone can do to the addresses beforehand", () => {
  test.each([1n, 1_000_000n, 1_000_000_000n])("%d lamports at the escrow's address", (lamports) => {
    const ledger = s.merchantLedger();
    ledger.set({ ...ledger.account(s.escrow), lamports });
    ledger.do([create], [s.agent]);
    const account = ledger.account(s.escrow);
    const needed = ledger.rentExempt(account.data.length);
    expect(account.lamports).toBe(lamports > needed ? lamports : needed);
    expect(s.readEscrow(ledger).state).toBe("Pending");
  });

  test("lamports at the vault's address", () => {
    const ledger = s.merchantLedger();
    ledger.fund(s.vault, 1_000_000n);
    ledger.do([create], [s.agent]);
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT);
  });

  test("a vault that exists already, with tokens in it", () => {
    const ledger = s.merchantLedger();
    ledger.do(
      [
        createAssociatedTokenInstruction({
          payer: s.stranger.address,
          owner: s.escrow,
          mint: s.mint,
        }),
      ],
      [s.stranger],
    );
    putTokenAccount(ledger, s.escrow, s.mint, 3n);
    ledger.do([create], [s.agent]);
    expect(tokenBalance(ledger, s.vault)).toBe(s.AMOUNT + 3n);
    expect(s.readEscrow(ledger).amount).toBe(s.AMOUNT);
  });
});

test("pays the ledger's rent, at two years' rent and at SIMD-0194's rate", () => {
  for (const [lamportsPerByte, years] of [
    [3480n, 2],
    [6960n, 1],
  ] as const) {
    const ledger = s.merchantLedger();
    ledger.svm.setRent(new Rent(lamportsPerByte, years, 50));
    ledger.do([create], [s.agent]);
    expect(ledger.account(s.escrow).lamports).toBe((128n + 416n) * 6960n);
  }
});

test("works from any token account of the agent, and with accounts appended", () => {
  const ledger = s.merchantLedger();
  const other = putTokenAccount(
    ledger,
    s.agent.address,
    s.mint,
    s.AMOUNT,
    wallet("second").address,
  );
  const instruction = withAccount(create, "agent_token_account", other);
  const references = Array.from({ length: 20 }, () => readonly(nowhere));
  ledger.do([{ ...instruction, accounts: [...instruction.accounts, ...references] }], [s.agent]);
  expect(tokenBalance(ledger, other)).toBe(0n);
});

test("escrows the largest amount there is", () => {
  const ledger = s.merchantLedger();
  const amount = 2n ** 64n - 1n;
  putTokenAccount(ledger, s.agent.address, s.mint, amount);
  ledger.do([s.createInstruction({ amount })], [s.agent]);
  expect(s.readEscrow(ledger).amount).toBe(amount);
});

test.each([1, 604_800])("accepts a time to live of %d seconds", (ttlSeconds) => {
  const ledger = s.merchantLedger();
  ledger.do([s.createInstruction({ ttlSeconds })], [s.agent]);
  expect(s.readEscrow(ledger).expiresAt).toBe(s.START + BigInt(ttlSeconds));
});

test.each([
  ["nothing", { amount: 0n }, "6015 InvalidAmount"],
  ["more than the agent has", { amount: 1_000_000_001n }, "6018 InsufficientFunds"],
  ["2^64-1 base units", { amount: 2n ** 64n - 1n }, "6018 InsufficientFunds"],
  ["no time to live", { ttlSeconds: 0 }, "6016 InvalidTtl"],
  ["a time to live over seven days", { ttlSeconds: 604_801 }, "6016 InvalidTtl"],
  ["a time to live of 2^32-1", { ttlSeconds: 2 ** 32 - 1 }, "6016 InvalidTtl"],
  ["an unregistered merchant", { merchant: s.stranger.address }, "6013 WrongMerchant"],
] as const)("refuses %s", (_, input, code) => {
  expect(refusal(s.merchantLedger(), s.createInstruction(input))).toBe(code);
});

test("refuses a second escrow for the same task, also once the first is settled", () => {
  const ledger = s.escrowLedger();
  expect(refusal(ledger, create)).toBe("6020 EscrowExists");
  ledger.do([s.attestInstruction(), s.releaseInstruction()], [s.stranger]);
  expect(refusal(ledger, create)).toBe("6020 EscrowExists");
});

test("refuses a suspended merchant", () => {
  const ledger = s.merchantLedger();
  const suspend = setMerchantStatusInstruction(s.deployment, {
    admin: s.upgradeAuthority.address,
    merchant: s.merchant.address,
    status: "Suspended",
  });
  ledger.do([suspend], [s.upgradeAuthority]);
  expect(refusal(ledger, create)).toBe("6014 MerchantSuspended");
});

test("refuses to spend for an agent that did not sign", () => {
  const ledger = s.merchantLedger();
  const theft = withRole(
    s.createInstruction({ payer: s.stranger.address }),
    "agent_owner",
    AccountRole.readonly,
  );
  expect(ledger.send([theft], [s.stranger]).refusal).toBe("6002 MissingSignature");
  const own = withAccount(theft, "agent_owner", s.stranger.address);
  const asStranger = withRole(own, "agent_owner", AccountRole.readonlySigner);
  expect(ledger.send([asStranger], [s.stranger]).refusal).toBe("6017 WrongAgentTokenAccount");
});

describe("refuses a forged", () => {
  test("config", () => {
    const ledger = s.merchantLedger();
    const config = custodyConfigAddress(s.deployment).address;
    const copy = forgeCopy(ledger, config);
    expect(refusal(ledger, withAccount(create, "config", copy))).toBe("6007 WrongConfig");
    const foreign = forgeCopy(ledger, config, { owner: s.deployment.attestorProgram });
    expect(refusal(ledger, withAccount(create, "config", foreign))).toBe("6007 WrongConfig");
  });

  test("merchant account", () => {
    const ledger = s.merchantLedger();
    const copy = forgeCopy(ledger, s.merchantPda);
    expect(refusal(ledger, withAccount(create, "merchant", copy))).toBe("6013 WrongMerchant");
    const foreign = forgeCopy(ledger, s.merchantPda, { owner: deployAcceptEverything(ledger) });
    expect(refusal(ledger, withAccount(create, "merchant", foreign))).toBe("6013 WrongMerchant");
    const other = merchantAddress(s.deployment, s.stranger.address).address;
    ledger.do([s.registerInstruction(s.stranger, s.attestor.address)], [s.stranger]);
    expect(refusal(ledger, withAccount(create, "merchant", other))).toBe("6013 WrongMerchant");
    expect(refusal(ledger, withAccount(create, "merchant_wallet", s.stranger.address))).toBe(
      "6013 WrongMerchant",
    );
  });

  test("mint", () => {
    const ledger = s.merchantLedger();
    const foreign = forgeCopy(ledger, s.mint, { owner: deployAcceptEverything(ledger) });
    expect(refusal(ledger, withAccount(create, "mint", foreign))).toBe("6012 WrongMint");
    expect(refusal(ledger, withAccount(create, "mint", s.agentTokens))).toBe("6012 WrongMint");
    expect(refusal(ledger, withAccount(create, "mint", s.otherMint))).toBe(
      "6017 WrongAgentTokenAccount",
    );
  });

  test("token account of the agent", () => {
    const ledger = s.merchantLedger();
    const withSource = (address: typeof nowhere): string | undefined =>
      refusal(ledger, withAccount(create, "agent_token_account", address));
    const foreign = forgeCopy(ledger, s.agentTokens, { owner: deployAcceptEverything(ledger) });
    expect(withSource(foreign)).toBe("6017 WrongAgentTokenAccount");
    expect(withSource(associatedTokenAddress(s.agent.address, s.otherMint))).toBe(
      "6017 WrongAgentTokenAccount",
    );
    expect(withSource(s.merchantTokens)).toBe("6017 WrongAgentTokenAccount");
    expect(withSource(nowhere)).toBe("6017 WrongAgentTokenAccount");
  });

  test("escrow or vault address", () => {
    const ledger = s.merchantLedger();
    expect(refusal(ledger, withAccount(create, "escrow", nowhere))).toBe("6019 WrongEscrow");
    expect(refusal(ledger, withAccount(create, "vault", nowhere))).toBe("6021 WrongVault");
    const strange = putTokenAccount(ledger, s.escrow, s.mint, 0n, wallet("strange vault").address);
    expect(refusal(ledger, withAccount(create, "vault", strange))).toBe("6021 WrongVault");
  });

  test.each([
    ["token_program", "6010 WrongTokenProgram"],
    ["associated_token_program", "6011 WrongAssociatedTokenProgram"],
    ["system_program", "6009 WrongSystemProgram"],
  ])("%s", (name, code) => {
    const ledger = s.merchantLedger();
    const fake = deployAcceptEverything(ledger);
    expect(refusal(ledger, withAccount(create, name, fake))).toBe(code);
  });
});

describe("refuses a malformed instruction:", () => {
  test.each([
    ["no data", new Uint8Array()],
    ["an unknown discriminator", new Uint8Array(124)],
    ["data too short", create.data.slice(0, -1)],
    ["data too long", Uint8Array.of(...create.data, 0)],
  ])("%s", (_, data) => {
    expect(refusal(s.merchantLedger(), withData(create, data))).toBe("6000 InvalidInstruction");
  });

  test("an account too few", () => {
    const accounts = create.accounts.slice(0, -1);
    expect(refusal(s.merchantLedger(), { ...create, accounts })).toBe("6001 MissingAccount");
  });

  test("more accounts than the program takes", () => {
    const accounts = [...create.accounts, ...Array.from({ length: 21 }, () => readonly(nowhere))];
    expect(refusal(s.merchantLedger(), { ...create, accounts })).toBe("6037 TooManyAccounts");
  });

  test.each(["escrow", "vault", "agent_token_account", "config"])("%s read-only", (name) => {
    const instruction = withRole(create, name, AccountRole.readonly);
    expect(refusal(s.merchantLedger(), instruction)).toBe("6003 AccountNotWritable");
  });
});
