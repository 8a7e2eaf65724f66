import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  associatedTokenAddress,
  escrowAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../fixture/settlement.ts";
import { withAccount } from "../fixture/tampering.ts";
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

// Anyone can send a settlement and choose the payout accounts. A right that a payee once granted on an old account must
// not turn into a right to the escrow.
const thief = wallet("thief");
const loot = wallet("thief's tokens").address;
const purse = wallet("purse").address;
const till = wallet("till").address;
const LIMIT = 2n ** 63n;

const SHARED = "6028 PayoutAccountShared";
/** TokenError::InsufficientFunds: the error of a delegate's transfer from an account that was not paid. */
const NOTHING_THERE = "custom 1";

/** Further token accounts of the agent (purse) and the merchant (till), and an empty account of the thief. */
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

/** Made by instructions, as a wallet does, so that it also works for wrapped SOL. */
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

/**
 * The result of instructions that only the thief signs: the refusal, and the tokens and lamports that the thief gained.
 */
const attempt = (ledger: TestLedger, instructions: ReadonlyArray<Instruction>) => {
  const { refusal } = ledger.send(instructions, [thief]);
  return {
    refusal,
    stolen: tokenBalance(ledger, loot),
    state: s.readEscrow(ledger).state,
  };
};
const nothing = { refusal: SHARED, stolen: 0n, state: "Pending" } as const;

const PART = 2_000_000n;
type Settle = (
  payout: { readonly fallback?: Address },
  mint?: Address,
) => readonly [Instruction, ...ReadonlyArray<Instruction>];
const refundTo: Settle = ({ fallback }, mint = s.mint) => [
  s.refundInstruction({ mint, agentFallbackAccount: fallback }),
];
const releaseTo: Settle = ({ fallback }, mint = s.mint) => [
  s.attestInstruction({ terms: s.termsWith({ mint }) }),
  s.releaseInstruction({ mint, merchantFallbackAccount: fallback }),
];
const partTo: Settle = ({ fallback }, mint = s.mint) => [
  s.attestInstruction({ terms: s.termsWith({ mint }), total: PART }),
  s.releaseInstruction({ mint, merchantFallbackAccount: fallback }),
];
const captureTo: Settle = ({ fallback }, mint = s.mint) => {
  const terms = s.termsWith({ mint, sessionKey: s.sessionKey.address });
  const named = { attestation: { terms }, voucher: { terms } };
  return [
    s.proveInstruction({ total: PART, deliveries: 1, ...named }),
    s.captureInstruction({ mint, merchantFallbackAccount: fallback }),
  ];
};

type Settlement = {
  readonly name: string;
  readonly settle: Settle;
  readonly time: bigint;
  readonly owner: Wallet;
  /** The payee's old account, and the name of the associated account in the instruction. */
  readonly old: Address;
  readonly place: string;
  readonly wrong: string;
  readonly paid: bigint;
  readonly isSession?: true;
};
const ofMerchant = {
  owner: s.merchant,
  old: till,
  place: "merchant_token_account",
  wrong: "6022 WrongMerchantTokenAccount",
  time: s.START,
} as const;
const ofAgent = {
  owner: s.agent,
  old: purse,
  place: "agent_token_account",
  wrong: "6017 WrongAgentTokenAccount",
  time: s.START,
} as const;
const SETTLEMENTS: ReadonlyArray<Settlement> = [
  {
    ...ofAgent,
    name: "a refund",
    settle: refundTo,
    time: s.START + BigInt(s.TTL_SECONDS),
    paid: s.AMOUNT,
  },
  { ...ofMerchant, name: "a release", settle: releaseTo, paid: s.AMOUNT },
  { ...ofMerchant, name: "a release of a part", settle: partTo, paid: PART },
  { ...ofMerchant, name: "a capture", settle: captureTo, paid: PART, isSession: true },
];
const each = SETTLEMENTS.map((settlement) => [settlement.name, settlement] as const);

/** The ledger on which a settlement settles. */
const ledgerOf = ({ isSession }: Settlement): TestLedger =>
  isSession === true ? s.sessionLedger() : s.escrowLedger();

/** The instructions with the old account in place of the associated one, and the attestation unchanged. */
const misplaced = ({ settle, place, old }: Settlement): ReadonlyArray<Instruction> => {
  const instructions = settle({});
  return instructions.map((one, i) =>
    i === instructions.length - 1 ? withAccount(one, place, old) : one,
  );
};

/** The payee's associated account becomes someone else's, so that the fallback is paid. */
const giveAway = (ledger: TestLedger, { owner }: Settlement, mint: Address = s.mint): void => {
  const associated = associatedTokenAddress(owner.address, mint);
  ledger.do([setAuthority(associated, "owner", s.stranger.address, owner.address)], [owner]);
};

describe.each(each)("a delegate on an old account gets nothing of %s", (_, settlement) => {
  const { settle, time, owner, old, wrong, paid } = settlement;
  const delegated = (): TestLedger => {
    const ledger = withPurses(ledgerOf(settlement));
    ledger.do([approveThief(old, owner)], [owner]);
    ledger.time = time;
    return ledger;
  };

  test("in the associated account's place", () => {
    const theft = [...misplaced(settlement), take(old, paid)];
    expect(attempt(delegated(), theft)).toEqual({ ...nothing, refusal: wrong });
  });

  test("as the fallback when the associated account can receive tokens, which is then paid", () => {
    const ledger = delegated();
    const theft = [...settle({ fallback: old }), take(old, paid)];
    expect(attempt(ledger, theft)).toEqual({ ...nothing, refusal: NOTHING_THERE });
    const associated = associatedTokenAddress(owner.address, s.mint);
    const before = tokenBalance(ledger, associated) ?? 0n;
    ledger.do(settle({ fallback: old }), [thief]);
    expect(tokenBalance(ledger, associated)).toBe(before + paid);
    expect(tokenBalance(ledger, old)).toBe(0n);
  });

  test("as the fallback when the associated account has another owner", () => {
    const ledger = delegated();
    giveAway(ledger, settlement);
    expect(attempt(ledger, [...settle({ fallback: old }), take(old, paid)])).toEqual(nothing);
  });

  test("although the other payee's associated account has a delegate and is paid", () => {
    const ledger = delegated();
    giveAway(ledger, settlement);
    const other = owner === s.agent ? s.merchant : s.agent;
    const associated = associatedTokenAddress(other.address, s.mint);
    ledger.do([approveThief(associated, other)], [other]);
    expect(attempt(ledger, [...settle({ fallback: old }), take(old, 1n)])).toEqual(nothing);
  });

  test("when the owner approves it in the same transaction", () => {
    const ledger = withPurses(ledgerOf(settlement));
    ledger.time = time;
    giveAway(ledger, settlement);
    const all = [approveThief(old, owner), ...settle({ fallback: old }), take(old, paid)];
    expect(ledger.send(all, [thief, owner]).refusal).toBe(SHARED);
    expect(tokenBalance(ledger, loot)).toBe(0n);
  });
});

test("a delegate gets nothing of either part when agent and merchant are one and share an old account", () => {
  const ledger = withPurses(s.merchantLedger());
  const own = s.merchant.address;
  putTokenAccount(ledger, own, s.mint, s.AMOUNT);
  ledger.do([s.createInstruction({ payer: own, agentOwner: own })], [s.merchant]);
  ledger.do([approveThief(till, s.merchant)], [s.merchant]);
  giveAway(ledger, { ...ofMerchant, name: "", settle: releaseTo, paid: 0n });
  const escrow = escrowAddress(s.deployment, own, s.TASK).address;
  const { refusal } = ledger.send(
    [
      s.attestOn(ledger, { escrow, total: PART }),
      s.releaseInstruction({ escrow, merchantFallbackAccount: till }),
      s.refundInstruction({ escrow, agentOwner: own, agentFallbackAccount: till }),
      take(till, s.AMOUNT),
    ],
    [thief],
  );
  expect([refusal, tokenBalance(ledger, loot)]).toEqual([SHARED, 0n]);
});

describe.each(each)(
  "a close authority on an old account gets nothing of wrapped SOL, which can be closed while it holds some: %s",
  (_, settlement) => {
    const { settle, time, owner, old } = settlement;
    const mint = NATIVE_MINT;
    const lamportsOfThief = (ledger: TestLedger) => ledger.account(thief.address).lamports;
    const close = (account: Address) => closeAccount(account, thief.address, thief.address);
    const wrapped = (): TestLedger => {
      const sessionKey = settlement.isSession === true ? s.sessionKey.address : null;
      const ledger = withPurses(wrappedEscrowLedger({ sessionKey }), mint);
      const mayClose = setAuthority(old, "closeAuthority", thief.address, owner.address);
      ledger.do([mayClose], [owner]);
      ledger.time = time;
      return ledger;
    };

    test("as the fallback that would be paid", () => {
      const ledger = wrapped();
      giveAway(ledger, settlement, mint);
      const before = lamportsOfThief(ledger);
      const { refusal } = ledger.send([...settle({ fallback: old }, mint), close(old)], [thief]);
      const isRicher = lamportsOfThief(ledger) > before;
      expect({ refusal, isRicher }).toEqual({ refusal: SHARED, isRicher: false });
    });

    test("as the fallback when the associated account can receive tokens", () => {
      const ledger = wrapped();
      const held = tokenBalance(ledger, old);
      ledger.do(settle({ fallback: old }, mint), [thief]);
      expect(tokenBalance(ledger, old)).toBe(held);
    });
  },
);

const agentRefund: Settlement = { ...ofAgent, name: "", settle: refundTo, paid: s.AMOUNT };

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
  giveAway(ledger, agentRefund);
  expect(attempt(ledger, refundTo({ fallback: gift }))).toEqual(nothing);
});

test("a delegate with an amount of 0 counts as a delegate", () => {
  const ledger = expired(withPurses(s.escrowLedger()));
  ledger.do([approveThief(purse, s.agent, 0n)], [s.agent]);
  giveAway(ledger, agentRefund);
  expect(attempt(ledger, refundTo({ fallback: purse }))).toEqual(nothing);
});

describe("a misdirected refund brings nobody anything: to", () => {
  const targets: ReadonlyArray<readonly [string, (ledger: TestLedger) => Address]> = [
    ["the thief", () => loot],
    ["the merchant", () => s.merchantTokens],
    ["the vault itself", () => s.vault],
    ["the escrow", () => s.escrow],
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
  ];
  const refused = { ...nothing, refusal: "6017 WrongAgentTokenAccount" };

  test.each(targets)("%s, in the associated account's place", (_, target) => {
    const ledger = expired(withPurses(s.escrowLedger()));
    const refund = withAccount(s.refundInstruction(), "agent_token_account", target(ledger));
    expect(attempt(ledger, [refund])).toEqual(refused);
  });

  test.each(targets)(
    "%s, as the fallback when the associated account has another owner",
    (_, target) => {
      const ledger = expired(withPurses(s.escrowLedger()));
      giveAway(ledger, agentRefund);
      expect(attempt(ledger, refundTo({ fallback: target(ledger) }))).toEqual(refused);
    },
  );

  test("the agent's associated account, which the thief owns after a change of owner", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    const { address } = s.agent;
    ledger.do([setAuthority(s.agentTokens, "owner", thief.address, address)], [s.agent]);
    const unusable = { ...nothing, refusal: "6030 PayoutAccountUnusable" };
    expect(attempt(ledger, refundTo({}))).toEqual(unusable);
  });
});

describe("is still paid:", () => {
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
    divided.do([...partTo({}), s.refundInstruction()], [thief]);
    expect(tokenBalance(divided, s.merchantTokens)).toBe(PART);
    expect(tokenBalance(divided, s.agentTokens)).toBe(1_000_000_000n - PART);

    const refunded = shared(expired(withPurses(s.escrowLedger())));
    refunded.do([s.refundInstruction()], [thief]);
    expect(tokenBalance(refunded, s.agentTokens)).toBe(1_000_000_000n);
  });

  test("a purse once its owner has revoked the delegate, in the same transaction too", () => {
    const ledger = expired(withPurses(s.escrowLedger()));
    ledger.do([approveThief(purse, s.agent)], [s.agent]);
    giveAway(ledger, agentRefund);
    ledger.do([revoke(purse, s.agent.address), ...refundTo({ fallback: purse })], [s.agent]);
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
    giveAway(ledger, agentRefund);
    ledger.do(refundTo({ fallback: purse }), [thief]);
    expect(tokenBalance(ledger, purse)).toBe(s.AMOUNT);
  });
});
