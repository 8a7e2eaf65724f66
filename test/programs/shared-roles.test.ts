import { describe, expect, test } from "bun:test";
import { type Address, address } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import { binaryPath } from "../../programs/compile.ts";
import { LEDGER_VARIANT } from "./fixture/ledger-variant.ts";
import * as s from "./fixture/settlement.ts";
import type { TestLedger } from "./fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "./fixture/token-account.ts";

const { merchant, merchantTokens } = s;

const LOADER = address("BPFLoader2111111111111111111111111111111111");
const elf = await Bun.file(binaryPath("attestor", LEDGER_VARIANT.elf)).bytes();

/** The escrow in which the merchant is its own agent. */
const own = escrowAddress(s.deployment, merchant.address, s.TASK).address;
const ownVault = associatedTokenAddress(own, s.mint);
const ofOwn = { escrow: own, rentPayer: merchant.address, agentOwner: merchant.address };
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

  test("by a partial release, to one account in both places", () => {
    const ledger = ownLedger();
    const attested = s.attestOn(ledger, { escrow: own, total: 2n });
    const escrow = settle(ledger, attested, s.partialInstruction(2n, ofOwn));
    expect(escrow).toMatchObject({ state: "PartiallyFulfilled", released: 2n });
  });

  test("by a refund", () => {
    const ledger = ownLedger();
    ledger.time += BigInt(s.TTL_SECONDS);
    expect(settle(ledger, s.refundInstruction(ofOwn))).toMatchObject({ state: "Refunded" });
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
  const release = s.releaseInstruction({ rentPayer: payer.address });
  ledger.do([s.attestOn(ledger), release], [s.agent]);
  expect(ledger.account(payer.address).lamports).toBe(before + rent);
});

describe("an escrow settles whatever account the rent payer is", () => {
  const space = (bytes: number) => ({ data: new Uint8Array(bytes), executable: false });
  const program = { data: elf, executable: true, lamports: 10n ** 10n };
  const became: ReadonlyArray<readonly [string, Omit<LedgerAccount, "address">]> = [
    ["nothing", { owner: SYSTEM_PROGRAM, lamports: 0n, ...space(0) }],
    ["an account of a program", { owner: TOKEN_PROGRAM, lamports: 10n ** 10n, ...space(200) }],
    ["a program", { owner: LOADER, ...program }],
  ];
  const settlements: ReadonlyArray<readonly [string, bigint, ReadonlyArray<Instruction>]> = [
    ["released", 0n, [s.attestInstruction(), s.releaseInstruction()]],
    ["released in part", 0n, [s.attestInstruction({ total: 2n }), s.partialInstruction(2n)]],
    ["refunded", BigInt(s.TTL_SECONDS), [s.refundInstruction()]],
  ];
  for (const [what, account] of became)
    test.each(settlements)(`${what}: %s`, (_, seconds, instructions) => {
      const ledger = s.escrowLedger();
      ledger.set({ address: s.agent.address, ...account });
      ledger.time += seconds;
      const lamports = (address: Address) => ledger.account(address).lamports;
      const all = () => lamports(s.escrow) + lamports(s.vault) + lamports(s.agent.address);
      const before = all();
      ledger.do(instructions, [s.stranger]);
      expect(all()).toBe(before);
      expect(lamports(s.vault)).toBe(0n);
      if (account.executable) expect(lamports(s.agent.address)).toBe(account.lamports);
    });
});
