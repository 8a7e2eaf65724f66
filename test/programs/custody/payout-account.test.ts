import { expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import type { EscrowState } from "../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { SettlementRule } from "../../../core/domain/relay/settlement-rule.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { verdicts } from "../fixture/precheck.ts";
import * as s from "../fixture/settlement.ts";
import { EXPIRY } from "../fixture/settlement-attempts.ts";
import { nowhere } from "../fixture/tampering.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { tokenBalance } from "../fixture/token-account.ts";
import { wallet } from "../fixture/wallet.ts";

// Every kind of associated account with every kind of fallback, for every payee: the check before sending and the
// program must agree, and a settlement must pay the account that the rule chooses.
const other = wallet("another token account").address;

const OF_MERCHANT = {
  payee: s.merchant.address,
  associated: s.merchantTokens,
  foreign: "6022 WrongMerchantTokenAccount",
};
const OF_AGENT = {
  payee: s.agent.address,
  associated: s.agentTokens,
  foreign: "6017 WrongAgentTokenAccount",
};

type Place = typeof OF_MERCHANT & {
  readonly name: string;
  readonly time: bigint;
  readonly paid: bigint;
  readonly settle: (fallback: Address | undefined) => ReadonlyArray<Instruction>;
  /** The ledger before it; with a single payment unless said otherwise. */
  readonly begin?: () => TestLedger;
  /** The escrow's state before it; Pending unless said otherwise. */
  readonly before?: EscrowState;
};
const PART = 2n;
const PLACES: ReadonlyArray<Place> = [
  {
    name: "a release",
    ...OF_MERCHANT,
    time: s.START,
    paid: s.AMOUNT,
    settle: (merchantFallbackAccount) => [
      s.attestInstruction(),
      s.releaseInstruction({ merchantFallbackAccount }),
    ],
  },
  {
    name: "a release of a part",
    ...OF_MERCHANT,
    time: s.START,
    paid: PART,
    settle: (merchantFallbackAccount) => [
      s.attestInstruction({ total: PART }),
      s.releaseInstruction({ merchantFallbackAccount }),
    ],
  },
  {
    name: "a capture",
    ...OF_MERCHANT,
    begin: s.sessionLedger,
    time: s.START,
    paid: PART,
    settle: (merchantFallbackAccount) => [
      s.proveInstruction({ total: PART, deliveries: 1 }),
      s.captureInstruction({ merchantFallbackAccount }),
    ],
  },
  {
    name: "the rest of a settled escrow",
    ...OF_AGENT,
    begin: () => {
      const ledger = s.escrowLedger();
      ledger.do([s.attestInstruction({ total: PART }), s.releaseInstruction()], [s.stranger]);
      return ledger;
    },
    before: "PartiallyFulfilled",
    time: s.START,
    paid: s.AMOUNT - PART,
    settle: (agentFallbackAccount) => [s.refundInstruction({ agentFallbackAccount })],
  },
  {
    name: "a refund",
    ...OF_AGENT,
    time: EXPIRY,
    paid: s.AMOUNT,
    settle: (agentFallbackAccount) => [s.refundInstruction({ agentFallbackAccount })],
  },
];

/** `left`: the key of a cleared right, after a tag of zero that makes it void. */
const RIGHTS = ["none", "left", "some"] as const;
/** Further: a delegate with an amount of 0. */
const DELEGATES = [...RIGHTS, "for nothing"] as const;
const HOLDERS = ["the payee", "another owner", "another mint"] as const;

type TokenState = {
  readonly holder: (typeof HOLDERS)[number];
  readonly delegate: (typeof DELEGATES)[number];
  readonly closeAuthority: (typeof RIGHTS)[number];
  readonly frozen: boolean;
};

const PLAIN: TokenState = {
  holder: "the payee",
  delegate: "none",
  closeAuthority: "none",
  frozen: false,
};
const SHARED: TokenState = { ...PLAIN, delegate: "some", closeAuthority: "some" };
const ASSOCIATED: ReadonlyArray<TokenState | "absent"> = [
  PLAIN,
  SHARED,
  { ...PLAIN, holder: "another owner" },
  { ...SHARED, holder: "another owner" },
  { ...PLAIN, frozen: true },
  "absent",
];

const FALLBACKS: ReadonlyArray<TokenState | "none" | "absent" | "the vault" | "the associated"> = [
  "none",
  "absent",
  "the vault",
  "the associated",
  ...HOLDERS.map((holder) => ({ ...PLAIN, holder })),
  ...DELEGATES.flatMap((delegate) =>
    RIGHTS.map((closeAuthority) => ({ ...PLAIN, delegate, closeAuthority })),
  ),
  { ...PLAIN, frozen: true },
  { ...SHARED, frozen: true },
];

/** SPL Token `state.rs`, `Account`. */
const accountData = (
  payee: Address,
  { holder, delegate, closeAuthority, frozen }: TokenState,
): Uint8Array => {
  const tag = (right: TokenState["delegate"]) => (right === "none" || right === "left" ? 0 : 1);
  const key = (right: TokenState["delegate"]) =>
    new Uint8Array(32).fill(right === "none" ? 0 : 0xee);
  return fieldWriter(165)
    .address(holder === "another mint" ? s.otherMint : s.mint)
    .address(holder === "another owner" ? s.stranger.address : payee)
    .u64(0n)
    .u32(tag(delegate))
    .bytes(key(delegate))
    .u8(frozen ? 2 : 1)
    .skip(12)
    .u64(delegate === "for nothing" ? 0n : 7n)
    .u32(tag(closeAuthority))
    .bytes(key(closeAuthority))
    .done();
};

type Expected = {
  readonly rule?: SettlementRule;
  readonly refusal?: string;
  readonly paid?: "associated" | "fallback";
};
const UNUSABLE: Expected = {
  rule: "payout_account_unusable",
  refusal: "6030 PayoutAccountUnusable",
};

/** The expected choice, written independently of core and the program. */
const expected = (
  foreign: string,
  associated: (typeof ASSOCIATED)[number],
  fallback: (typeof FALLBACKS)[number],
): Expected => {
  if (associated !== "absent" && associated.holder === "the payee" && !associated.frozen)
    return { paid: "associated" };
  const misowned: Expected = { rule: "payout_account_wrong_owner", refusal: foreign };
  if (fallback === "none") return UNUSABLE;
  if (fallback === "absent") return { refusal: foreign };
  if (fallback === "the vault") return misowned;
  if (fallback === "the associated") {
    if (associated === "absent") return { refusal: foreign };
    return associated.frozen ? UNUSABLE : misowned;
  }
  if (fallback.holder === "another owner") return misowned;
  if (fallback.holder === "another mint")
    return { rule: "payout_account_wrong_mint", refusal: foreign };
  if (fallback.frozen) return UNUSABLE;
  const isDelegated = fallback.delegate === "some" || fallback.delegate === "for nothing";
  if (isDelegated || fallback.closeAuthority === "some")
    return { rule: "payout_account_shared", refusal: "6028 PayoutAccountShared" };
  return { paid: "fallback" };
};

const put = (
  ledger: TestLedger,
  address: Address,
  payee: Address,
  state: TokenState | "absent",
): void => {
  if (state !== "absent") return ledger.put(address, TOKEN_PROGRAM, accountData(payee, state));
  ledger.set({
    ...ledger.account(address),
    owner: SYSTEM_PROGRAM,
    lamports: 0n,
    data: new Uint8Array(),
  });
};

test.each(PLACES.map((place) => [place.name, place] as const))(
  "%s: whatever the two payout accounts are, the check before sending and the program agree",
  (_, place) => {
    const ledger = (place.begin ?? s.escrowLedger)();
    const before: ReadonlyArray<LedgerAccount> = [s.escrow, s.vault].map((each) =>
      ledger.account(each),
    );
    for (const associated of ASSOCIATED)
      for (const fallback of FALLBACKS) {
        for (const account of before) ledger.set(account);
        ledger.time = place.time;
        put(ledger, place.associated, place.payee, associated);
        const named = {
          none: undefined,
          absent: nowhere,
          "the vault": s.vault,
          "the associated": place.associated,
        };
        if (typeof fallback === "object") put(ledger, other, place.payee, fallback);
        const address = typeof fallback === "string" ? named[fallback] : other;
        const { rule, refusal } = verdicts(ledger, place.settle(address), [s.stranger]);
        const { paid, ...said } = expected(place.foreign, associated, fallback);
        expect({ associated, fallback, rule, refusal }).toEqual({
          associated,
          fallback,
          rule: said.rule,
          refusal: said.refusal,
        });
        if (paid === undefined) expect(s.readEscrow(ledger).state).toBe(place.before ?? "Pending");
        else {
          const at = paid === "associated" ? place.associated : other;
          expect(tokenBalance(ledger, at)).toBe(place.paid);
        }
      }
  },
);

test.each(PLACES.map((place) => [place.name, place] as const))(
  "%s: a wrong bump of the associated account's address makes only that transaction fail",
  (_, place) => {
    const ledger = (place.begin ?? s.escrowLedger)();
    ledger.time = place.time;
    const instructions = place.settle(undefined);
    const [settle] = instructions.slice(-1);
    if (settle === undefined) throw new Error("nothing settles");
    const wrong = [...instructions.slice(0, -1), { ...settle, data: settle.data.with(8, 1) }];
    const { rule, refusal } = verdicts(ledger, wrong, [s.stranger]);
    expect(rule).toBe("payout_account_not_associated");
    expect(refusal).toBe(place.foreign);
    ledger.do(instructions, [s.stranger]);
  },
);

test("a fallback that is paid must be writable", () => {
  const ledger = s.escrowLedger();
  ledger.time = EXPIRY;
  put(ledger, s.agentTokens, s.agent.address, { ...PLAIN, frozen: true });
  put(ledger, other, s.agent.address, PLAIN);
  const refund = s.refundInstruction({ agentFallbackAccount: other });
  const accounts = refund.accounts.map((meta) =>
    meta.address === other ? { ...meta, role: 0 as const } : meta,
  );
  expect(ledger.send([{ ...refund, accounts }], [s.stranger]).refusal).toBe(
    "6003 AccountNotWritable",
  );
});
