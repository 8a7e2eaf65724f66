import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  associatedTokenAddress,
  escrowAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import {
  approve,
  closeAccount,
  initializeAccount,
  revoke,
  setAuthority,
  transferTokens,
} from "../fixture/token-instructions.ts";
import { type Wallet, wallet } from "../fixture/wallet.ts";
import { NATIVE_MINT, wrappedEscrowLedger } from "../fixture/wrapped-escrow.ts";

// Settlement is open to anyone, who also chooses among the payee's token accounts. A right that a payee once gave away on one of
// them must not turn into a right to the escrow.
const thief = wallet("thief");
const loot = wallet("thief's tokens").address;
const purse = wallet("purse").address;
const till = wallet("till").address;
const LIMIT = 2n ** 63n;

const SHARED = "6028 PayoutAccountShared";

/** The agent's purse and the merchant's till beside their associated accounts, and an empty account of the thief's. */
const withPurses = (ledger: TestLedger, mint: Address = s.mint): TestLedger => {
  ledger.fund(thief.address);
  for (const [account, owner] of [
    [purse, s.agent],
    [till, s.merchant],
    [loot, thief],
  ] as const)
    makeTokenAccount(ledger, account, mint, owner.address);
  return ledger;
};

/** As a wallet makes one, so that an account of wrapped SOL is one. */
const makeTokenAccount = (ledger: TestLedger, account: Address, mint: Address, owner: Address) => {
  ledger.put(account, TOKEN_PROGRAM, new Uint8Array(165));
  ledger.do([initializeAccount(account, mint, owner)], [s.stranger]);
};

const expired = (ledger: TestLedger): TestLedger => {
  ledger.time = s.START + BigInt(s.TTL_SECONDS);
  return ledger;
};

const approveThief = (account: Address, owner: Wallet, amount = LIMIT): Instruction =>
  approve(account, thief.address, owner.address, amount);

const take = (from: Address, amount: bigint): Instruction =>
  transferTokens(from, loot, thief.address, amount);

/** What a thief gets by instructions sent and signed by nobody else: the refusal, and what there is to show for it. */
const attempt = (ledger: TestLedger, instructions: ReadonlyArray<Instruction>) => {
  const { refusal } = ledger.send(instructions, [thief]);
  return {
    refusal,
    stolen: tokenBalance(ledger, loot),
    state: s.readEscrow(ledger).state,
  };
};
const nothing = { refusal: SHARED, stolen: 0n, state: "Pending" } as const;

const refundTo = (agentTokenAccount: Address) => s.refundInstruction({ agentTokenAccount });
const releaseTo = (merchantTokenAccount: Address) => [
  s.attestInstruction(),
  s.releaseInstruction({ merchantTokenAccount }),
];
const PART = 2_000_000n;
const divideTo = (accounts: Parameters<typeof s.partialInstruction>[1]) => [
  s.attestInstruction({ partialAmount: PART }),
  s.partialInstruction(PART, accounts),
];

describe("a delegate gets nothing of", () => {
  test("a refund into the agent's purse", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    ledger.do([approveThief(purse, s.agent)], [s.agent]);
    expect(attempt(ledger, [refundTo(purse), take(purse, s.AMOUNT)])).toEqual(nothing);
  });

  test("a release into the merchant's till", () => {
    const ledger = withPurses(s.escrowLedger());
    ledger.do([approveThief(till, s.merchant)], [s.merchant]);
    expect(attempt(ledger, [...releaseTo(till), take(till, s.AMOUNT)])).toEqual(nothing);
  });

  test("the merchant's part of a partial release", () => {
    const ledger = withPurses(s.escrowLedger());
    ledger.do([approveThief(till, s.merchant)], [s.merchant]);
    const settle = divideTo({ merchantTokenAccount: till });
    expect(attempt(ledger, [...settle, take(till, PART)])).toEqual(nothing);
  });

  test("the agent's part of a partial release", () => {
    const ledger = withPurses(s.escrowLedger());
    ledger.do([approveThief(purse, s.agent)], [s.agent]);
    const settle = divideTo({ agentTokenAccount: purse });
    expect(attempt(ledger, [...settle, take(purse, s.AMOUNT - PART)])).toEqual(nothing);
  });

  test("the agent's part, though the merchant's associated account is paid with a delegate on it", () => {
    const ledger = withPurses(s.escrowLedger());
    ledger.do([approveThief(s.merchantTokens, s.merchant)], [s.merchant]);
    ledger.do([approveThief(purse, s.agent)], [s.agent]);
    const settle = divideTo({ agentTokenAccount: purse });
    expect(attempt(ledger, [...settle, take(purse, 1n)])).toEqual(nothing);
  });

  test("either part, paid into one purse of a merchant who is the agent too", () => {
    const ledger = withPurses(s.merchantLedger());
    const own = s.merchant.address;
    putTokenAccount(ledger, own, s.mint, s.AMOUNT);
    ledger.do([s.createInstruction({ payer: own, agentOwner: own })], [s.merchant]);
    ledger.do([approveThief(till, s.merchant)], [s.merchant]);
    const escrow = escrowAddress(s.deployment, own, s.TASK).address;
    const { refusal } = ledger.send(
      [
        s.attestInstruction({ escrow, partialAmount: PART }),
        s.partialInstruction(PART, {
          escrow,
          agentOwner: own,
          rentPayer: own,
          merchantTokenAccount: till,
          agentTokenAccount: till,
        }),
        take(till, s.AMOUNT),
      ],
      [thief],
    );
    expect([refusal, tokenBalance(ledger, loot)]).toEqual([SHARED, 0n]);
  });

  test("a payout into an account that its owner approves in the same transaction", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    const all = [approveThief(purse, s.agent), refundTo(purse), take(purse, s.AMOUNT)];
    expect(ledger.send(all, [thief, s.agent]).refusal).toBe(SHARED);
    expect(tokenBalance(ledger, loot)).toBe(0n);
  });
});

describe("a close authority gets nothing of wrapped SOL, which can be closed while it holds some:", () => {
  const wrapped = () => withPurses(wrappedEscrowLedger(), NATIVE_MINT);
  const mint = NATIVE_MINT;
  const lamportsOfThief = (ledger: TestLedger) => ledger.account(thief.address).lamports;
  /** Whether an attempt brings the thief more than the transaction's fee. */
  const attemptToClose = (ledger: TestLedger, instructions: ReadonlyArray<Instruction>) => {
    const before = lamportsOfThief(ledger);
    const { refusal } = ledger.send(instructions, [thief]);
    return { refusal, isRicher: lamportsOfThief(ledger) > before };
  };
  const nothing = { refusal: SHARED, isRicher: false };
  const letThiefClose = (ledger: TestLedger, account: Address, owner: Wallet): void =>
    void ledger.do(
      [setAuthority(account, "closeAuthority", thief.address, owner.address)],
      [owner],
    );
  const close = (account: Address) => closeAccount(account, thief.address, thief.address);

  test("a refund", () => {
    const ledger = expired(wrapped());
    letThiefClose(ledger, purse, s.agent);
    const refund = s.refundInstruction({ mint, agentTokenAccount: purse });
    expect(attemptToClose(ledger, [refund, close(purse)])).toEqual(nothing);
  });

  test("a release", () => {
    const ledger = wrapped();
    letThiefClose(ledger, till, s.merchant);
    const release = s.releaseInstruction({ mint, merchantTokenAccount: till });
    expect(attemptToClose(ledger, [s.attestInstruction(), release, close(till)])).toEqual(nothing);
  });

  test("both parts of a partial release", () => {
    for (const [account, owner, accounts] of [
      [till, s.merchant, { merchantTokenAccount: till }],
      [purse, s.agent, { agentTokenAccount: purse }],
    ] as const) {
      const ledger = wrapped();
      letThiefClose(ledger, account, owner);
      const settle = divideTo({ mint, ...accounts });
      expect(attemptToClose(ledger, [...settle, close(account)])).toEqual(nothing);
    }
  });
});

test("an account that a stranger made for the agent, to be closed by the stranger, is not paid", () => {
  const ledger = expired(withPurses(s.escrowLedger()));
  const gift = wallet("gift").address;
  makeTokenAccount(ledger, gift, s.mint, thief.address);
  ledger.do(
    [
      setAuthority(gift, "closeAuthority", thief.address, thief.address),
      setAuthority(gift, "owner", s.agent.address, thief.address),
    ],
    [thief],
  );
  expect(attempt(ledger, [refundTo(gift)])).toEqual(nothing);
});

test("a delegate for nothing counts as one", () => {
  const ledger = expired(withPurses(s.escrowLedger()));
  ledger.do([approveThief(purse, s.agent, 0n)], [s.agent]);
  expect(attempt(ledger, [refundTo(purse)])).toEqual(nothing);
});

describe("a misdirected refund brings nobody anything: to", () => {
  test.each<readonly [string, (ledger: TestLedger) => Address]>([
    ["the thief", () => loot],
    ["the merchant", () => s.merchantTokens],
    ["the vault itself", () => s.vault],
    ["the escrow", () => s.escrow],
    [
      "the agent's associated account, which is the thief's by now",
      (ledger) => {
        const { address } = s.agent;
        ledger.do([setAuthority(s.agentTokens, "owner", thief.address, address)], [s.agent]);
        return s.agentTokens;
      },
    ],
    [
      "a purse that the agent has given away",
      (ledger) => {
        ledger.do([setAuthority(purse, "owner", thief.address, s.agent.address)], [s.agent]);
        return purse;
      },
    ],
    [
      "the agent's account of another mint",
      () => associatedTokenAddress(s.agent.address, s.otherMint),
    ],
  ])("%s", (_, target) => {
    const ledger = expired(withPurses(s.escrowLedger()));
    expect(attempt(ledger, [refundTo(target(ledger))])).toEqual({
      ...nothing,
      refusal: "6017 WrongAgentTokenAccount",
    });
  });
});

describe("is paid all the same:", () => {
  test("the payee's associated account, whatever rights its owner gave away on it", () => {
    const shared = (ledger: TestLedger): TestLedger => {
      for (const [account, owner] of [
        [s.agentTokens, s.agent],
        [s.merchantTokens, s.merchant],
      ] as const)
        ledger.do(
          [
            approveThief(account, owner),
            setAuthority(account, "closeAuthority", thief.address, owner.address),
          ],
          [owner],
        );
      return ledger;
    };
    const released = shared(withPurses(s.escrowLedger()));
    released.do([s.attestInstruction(), s.releaseInstruction()], [thief]);
    expect(tokenBalance(released, s.merchantTokens)).toBe(s.AMOUNT);

    const divided = shared(withPurses(s.escrowLedger()));
    divided.do(divideTo({}), [thief]);
    expect(tokenBalance(divided, s.merchantTokens)).toBe(PART);
    expect(tokenBalance(divided, s.agentTokens)).toBe(1_000_000_000n - PART);

    const refunded = shared(expired(withPurses(s.escrowLedger())));
    refunded.do([s.refundInstruction()], [thief]);
    expect(tokenBalance(refunded, s.agentTokens)).toBe(1_000_000_000n);
  });

  test("a purse once its owner has revoked the delegate, in the same transaction too", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    ledger.do([approveThief(purse, s.agent)], [s.agent]);
    ledger.do([revoke(purse, s.agent.address), refundTo(purse)], [s.agent]);
    expect(tokenBalance(ledger, purse)).toBe(s.AMOUNT);
  });

  test("a purse whose delegate has used up what was approved", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    const { address } = s.agent;
    ledger.do(
      [transferTokens(s.agentTokens, purse, address, 5n), approveThief(purse, s.agent, 5n)],
      [s.agent],
    );
    ledger.do([take(purse, 5n)], [thief]);
    ledger.do([refundTo(purse)], [thief]);
    expect(tokenBalance(ledger, purse)).toBe(s.AMOUNT);
  });
});
