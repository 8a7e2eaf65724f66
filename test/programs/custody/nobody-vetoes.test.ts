import { describe, expect, test } from "bun:test";
import { Rent } from "litesvm";
import { type Address, address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { binaryPath } from "../../../programs/compile.ts";
import { LEDGER_VARIANT } from "../fixture/ledger-variant.ts";
import * as s from "../fixture/settlement.ts";
import {
  attest,
  attestPart,
  cancel,
  CAPTURED,
  captured,
  capturedLedger,
  EXPIRY,
  frozen,
  givenAway,
  lastBytesOf,
  madeTill,
  refund,
  release,
  released,
  removed,
  rent,
  TILL,
} from "../fixture/settlement-attempts.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import { closeAccount, setAuthority, transferTokens } from "../fixture/token-instructions.ts";
import type { Wallet } from "../fixture/wallet.ts";

// A settlement names only accounts that its beneficiary controls; what belongs to others is fetched by instructions of
// their own. So nobody can hinder another's payment by what they do to their own accounts.

type Payment = readonly [
  name: string,
  begin: () => TestLedger,
  instructions: ReadonlyArray<Instruction>,
  by: Wallet,
  paid: bigint,
  after?: bigint,
];
const PAYMENTS: ReadonlyArray<Payment> = [
  ["a release", s.escrowLedger, [attest, release], s.stranger, s.AMOUNT],
  ["a release of a part", s.escrowLedger, [attestPart(2n), release], s.stranger, 2n],
  ["a capture", s.sessionLedger, captured(7n, 1), s.stranger, 7n],
  ["a session's release", capturedLedger, released(3_000_000n, 4), s.stranger, 3_000_000n],
  ["a session's release of all", capturedLedger, released(s.AMOUNT, 9), s.stranger, s.AMOUNT],
];
const SETTLEMENTS: ReadonlyArray<Payment> = [
  ...PAYMENTS,
  ["a cancellation", s.escrowLedger, [cancel], s.merchant, 0n],
  ["a refund", s.escrowLedger, [refund], s.stranger, 0n, BigInt(s.TTL_SECONDS)],
];

const LOADER = address("BPFLoader2111111111111111111111111111111111");
const elf = await Bun.file(binaryPath("attestor", LEDGER_VARIANT.elf)).bytes();
const MEBIBYTE = 1024 * 1024;
const ofSize = (bytes: number) => ({
  owner: TOKEN_PROGRAM,
  lamports: 10n ** 14n,
  data: new Uint8Array(bytes),
  executable: false,
});
const NOTHING = {
  owner: SYSTEM_PROGRAM,
  lamports: 0n,
  data: new Uint8Array(),
  executable: false,
};

describe("whatever the rent payer makes of its account", () => {
  const became: ReadonlyArray<readonly [string, Omit<LedgerAccount, "address">]> = [
    ["nothing", NOTHING],
    ["an account of a program", ofSize(200)],
    ["an account of 1 MiB", ofSize(MEBIBYTE)],
    ["an account of 10 MiB", ofSize(10 * MEBIBYTE)],
    ["a program", { owner: LOADER, lamports: 10n ** 10n, data: elf, executable: true }],
  ];

  // The agent pays the rent in these tests.
  describe.each(became)("%s:", (_, account) => {
    test.each(SETTLEMENTS)("%s", (__, begin, instructions, by, paid, after = 0n) => {
      const ledger = begin();
      ledger.set({ address: s.agent.address, ...account });
      ledger.time += after;
      ledger.do([...instructions], [by]);
      expect(tokenBalance(ledger, s.merchantTokens)).toBe(paid);
    });

    test("its rent goes to it, or stays where it cannot, and the escrow can be archived", () => {
      const ledger = s.escrowLedger();
      ledger.set({ address: s.agent.address, ...account });
      ledger.do([attest, release], [s.stranger]);
      const lamports = (of: Address) => ledger.account(of).lamports;
      const before = [lamports(s.agent.address), lamports(s.escrow)] as const;
      ledger.do([rent], [s.stranger]);
      const moved = account.executable ? 0n : ledger.rentExempt(165);
      expect(lamports(s.agent.address) - before[0]).toBe(moved);
      expect(before[1] - lamports(s.escrow)).toBe(moved);
      ledger.time += 604_800n;
      ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
      expect(ledger.account(s.escrow).data.length).toBe(96);
    });
  });
});

describe("whatever the agent makes of its token account", () => {
  const emptied = (ledger: TestLedger): TestLedger => {
    const { address: owner } = s.agent;
    const all = tokenBalance(ledger, s.agentTokens) ?? 0n;
    const to = putTokenAccount(ledger, s.stranger.address, s.mint, 0n);
    ledger.do([transferTokens(s.agentTokens, to, owner, all)], [s.agent]);
    return ledger;
  };
  const became: ReadonlyArray<readonly [string, (ledger: TestLedger) => TestLedger]> = [
    [
      "closed",
      (ledger) => {
        const { address: owner } = s.agent;
        emptied(ledger).do([closeAccount(s.agentTokens, owner, owner)], [s.agent]);
        return ledger;
      },
    ],
    ["frozen", (ledger) => frozen(s.agentTokens, ledger)],
    ["another's", (ledger) => givenAway(s.agent, s.agentTokens, ledger)],
    [
      "closed by another",
      (ledger) => {
        const { address: owner } = s.agent;
        const toStranger = setAuthority(s.agentTokens, "closeAuthority", s.stranger.address, owner);
        ledger.do([toStranger], [s.agent]);
        return ledger;
      },
    ],
  ];

  describe.each(became)("%s:", (_, become) => {
    test.each([...PAYMENTS, ...SETTLEMENTS.slice(-2, -1)])(
      "%s",
      (__, begin, instructions, by, paid) => {
        const ledger = become(begin());
        ledger.do([...instructions], [by]);
        expect(tokenBalance(ledger, s.merchantTokens)).toBe(paid);
      },
    );

    test("the rest waits for it, also when the escrow is archived", () => {
      const ledger = become(s.escrowLedger());
      ledger.do([attestPart(2n), release], [s.stranger]);
      const lastBytes = lastBytesOf(ledger);
      ledger.time += 604_800n;
      ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
      putTokenAccount(ledger, s.agent.address, s.mint, 0n);
      ledger.do([s.refundInstruction({ lastBytes })], [s.stranger]);
      expect(tokenBalance(ledger, s.agentTokens)).toBe(s.AMOUNT - 2n);
    });
  });
});

describe("a merchant without an associated account is paid into one that anybody makes in the same transaction:", () => {
  const tillOf = ([, begin, instructions, , paid]: Payment) => {
    const ledger = removed(s.merchantTokens, begin());
    const before = tokenBalance(ledger, TILL) ?? 0n;
    const [prove, pay] = instructions;
    if (prove === undefined || pay === undefined) throw new Error("a proof and a payment");
    const toTill =
      pay.data.length === s.captureInstruction().data.length &&
      pay.data[0] === s.captureInstruction().data[0]
        ? s.captureInstruction({ merchantFallbackAccount: TILL })
        : s.releaseInstruction({ merchantFallbackAccount: TILL });
    ledger.do([...madeTill(), prove, toTill], [s.stranger]);
    return { gained: (tokenBalance(ledger, TILL) ?? 0n) - before, paid };
  };

  test.each(PAYMENTS.map((each) => [each[0], each] as const))("%s", (_, payment) => {
    const { gained, paid } = tillOf(payment);
    const before = payment[1] === capturedLedger ? CAPTURED : 0n;
    expect(gained).toBe(paid - before);
  });

  test("so is an agent", () => {
    const ledger = removed(s.agentTokens, s.escrowLedger());
    ledger.time = EXPIRY;
    const [make, initialize] = madeTill(s.mint, s.agent.address);
    if (make === undefined || initialize === undefined) throw new Error("two instructions");
    const toPurse = s.refundInstruction({ agentFallbackAccount: TILL });
    ledger.do([make, initialize, toPurse], [s.stranger]);
    expect(tokenBalance(ledger, TILL)).toBe(s.AMOUNT);
  });
});

type Life = readonly [
  name: string,
  begin: () => TestLedger,
  ...ReadonlyArray<readonly [ReadonlyArray<Instruction>, Wallet, secondsLater?: bigint]>,
];
const CLOSE = [[s.closeInstruction()], s.agent] as const;
const LIVES: ReadonlyArray<Life> = [
  ["released", s.escrowLedger, [[attest, release], s.stranger]],
  ["released in part", s.escrowLedger, [[attestPart(2n), release], s.stranger]],
  ["cancelled", s.escrowLedger, [[cancel], s.merchant]],
  ["refunded", s.escrowLedger, [[refund], s.stranger, BigInt(s.TTL_SECONDS)]],
  ["a session released", capturedLedger, [released(3_000_000n, 4), s.stranger]],
  ["a session released in full", capturedLedger, [released(s.AMOUNT, 9), s.stranger]],
  ["a session closed and released", capturedLedger, CLOSE, [released(3_000_000n, 4), s.stranger]],
  ["a session closed and refunded", capturedLedger, CLOSE, [[refund], s.stranger, 900n]],
  ["a session cancelled", capturedLedger, CLOSE, [[cancel], s.merchant, 60n]],
  [
    "a session captured in full and refunded",
    s.sessionLedger,
    [captured(s.AMOUNT, 9), s.stranger],
    [[s.refundInstruction({ agentOwner: null })], s.stranger, BigInt(s.TTL_SECONDS)],
  ],
];

describe("everybody's tokens and lamports come home:", () => {
  /** Lamports of everybody but the stranger, who pays the fees of what anybody may send. */
  const lamportsOn = (ledger: TestLedger) =>
    [s.escrow, s.vault, s.agent.address, s.merchant.address, s.merchantTokens, s.agentTokens].map(
      (each) => ledger.account(each).lamports,
    );
  const sum = (values: ReadonlyArray<bigint>) => values.reduce((total, each) => total + each, 0n);
  const feeOf = (by: Wallet) => (by === s.stranger ? 0n : 5_000n);

  /** Lives a life and returns what the agent had before the rents were paid, less its own fees. */
  const live = ([, begin, ...steps]: Life) => {
    const ledger = begin();
    const before = sum(lamportsOn(ledger));
    let fees = 0n;
    for (const [instructions, by, later = 0n] of steps) {
      ledger.time += later;
      ledger.do([...instructions], [by]);
      fees += feeOf(by);
    }
    return { ledger, all: before - fees };
  };
  const hasVault = (ledger: TestLedger) => tokenBalance(ledger, s.vault) !== undefined;
  const tokensOn = (ledger: TestLedger) =>
    sum([s.agentTokens, s.merchantTokens, s.vault].map((each) => tokenBalance(ledger, each) ?? 0n));

  test.each(LIVES.map((each) => [each[0], each] as const))("%s", (_, life) => {
    const { ledger, all } = live(life);
    if (hasVault(ledger)) ledger.do([refund], [s.stranger]);
    ledger.do([rent], [s.stranger]);
    expect(ledger.account(s.vault).lamports).toBe(0n);
    expect(ledger.account(s.escrow).lamports).toBe(ledger.rentExempt(416));
    expect(sum(lamportsOn(ledger))).toBe(all);
    expect(tokensOn(ledger)).toBe(1_000_000_000n);
    const { released: paid } = s.readEscrow(ledger);
    expect(tokenBalance(ledger, s.merchantTokens)).toBe(paid);
    ledger.do([rent], [s.stranger]);
    expect(sum(lamportsOn(ledger))).toBe(all);
  });

  test.each(LIVES.map((each) => [each[0], each] as const))("%s, archived before", (_, life) => {
    const { ledger, all } = live(life);
    const lastBytes = lastBytesOf(ledger);
    ledger.time += 604_800n;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    if (hasVault(ledger)) ledger.do([s.refundInstruction({ lastBytes })], [s.stranger]);
    ledger.do([s.rentInstruction({ lastBytes })], [s.stranger]);
    expect(ledger.account(s.vault).lamports).toBe(0n);
    expect(ledger.account(s.escrow).lamports).toBe(ledger.rentExempt(96));
    expect(sum(lamportsOn(ledger))).toBe(all);
    expect(tokensOn(ledger)).toBe(1_000_000_000n);
  });

  test("what a cut of the rent frees comes home too, of an escrow and of a tombstone", () => {
    const { ledger } = live(LIVES[0] as Life);
    ledger.do([rent], [s.stranger]);
    const agent = () => ledger.account(s.agent.address).lamports;
    const lastBytes = lastBytesOf(ledger);
    ledger.svm.setRent(new Rent(3480n, 1, 50));
    const before = agent();
    ledger.do([rent], [s.stranger]);
    expect(agent() - before).toBe(544n * 3480n);
    ledger.time += 604_800n;
    ledger.do([s.archiveInstruction(ledger)], [s.stranger]);
    const archived = agent();
    ledger.svm.setRent(new Rent(696n, 1, 50));
    ledger.do([s.rentInstruction({ lastBytes })], [s.stranger]);
    expect(agent() - archived).toBe(224n * (3480n - 696n));
    expect(ledger.account(s.escrow).lamports).toBe(224n * 696n);
  });

  test("of a rent that has risen nothing is asked, and nothing is moved", () => {
    const { ledger } = live(LIVES[0] as Life);
    ledger.svm.setRent(new Rent(4n * 6960n, 1, 50));
    const before = lamportsOn(ledger);
    ledger.do([rent], [s.stranger]);
    expect(lamportsOn(ledger)).toEqual(before);
  });

  test("lamports that a stranger sends to the escrow account go to the rent payer", () => {
    const { ledger, all } = live(LIVES[0] as Life);
    const account = ledger.account(s.escrow);
    ledger.set({ ...account, lamports: account.lamports + 7n });
    ledger.do([rent], [s.stranger]);
    expect(sum(lamportsOn(ledger))).toBe(all + 7n);
    expect(ledger.account(s.escrow).lamports).toBe(ledger.rentExempt(416));
  });
});
