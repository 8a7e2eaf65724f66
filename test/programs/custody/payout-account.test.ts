import { expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { SettlementRule } from "../../../core/domain/relay/settlement-rule.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { verdicts } from "../fixture/precheck.ts";
import * as s from "../fixture/settlement.ts";
import { EXPIRY } from "../fixture/settlement-attempts.ts";
import { wallet } from "../fixture/wallet.ts";

// Every kind of payout account in every place where one is paid: the check before sending and the program must say the same.
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
  readonly settle: (account: Address) => ReadonlyArray<Instruction>;
};
const attestPart = s.attestInstruction({ partialAmount: 2n });
const PLACES: ReadonlyArray<Place> = [
  {
    name: "a release",
    ...OF_MERCHANT,
    time: s.START,
    settle: (merchantTokenAccount) => [
      s.attestInstruction(),
      s.releaseInstruction({ merchantTokenAccount }),
    ],
  },
  {
    name: "the merchant's part",
    ...OF_MERCHANT,
    time: s.START,
    settle: (merchantTokenAccount) => [
      attestPart,
      s.partialInstruction(2n, { merchantTokenAccount }),
    ],
  },
  {
    name: "the agent's part",
    ...OF_AGENT,
    time: s.START,
    settle: (agentTokenAccount) => [attestPart, s.partialInstruction(2n, { agentTokenAccount })],
  },
  {
    name: "a refund",
    ...OF_AGENT,
    time: EXPIRY,
    settle: (agentTokenAccount) => [s.refundInstruction({ agentTokenAccount })],
  },
];

const HOLDERS = ["the payee", "another owner", "another mint"] as const;
/** `left`: a key stands there, behind the zero that says that it counts for nothing. */
const RIGHTS = ["none", "left", "some"] as const;
/** Besides, a delegate who may transfer nothing. */
const DELEGATES = [...RIGHTS, "for nothing"] as const;

type Case = {
  readonly address: Address;
  readonly holder: (typeof HOLDERS)[number];
  readonly delegate: (typeof DELEGATES)[number];
  readonly closeAuthority: (typeof RIGHTS)[number];
};

const casesOf = ({ associated }: Place): ReadonlyArray<Case> =>
  [associated, other].flatMap((address) =>
    HOLDERS.flatMap((holder) =>
      DELEGATES.flatMap((delegate) =>
        RIGHTS.map((closeAuthority): Case => ({ address, holder, delegate, closeAuthority })),
      ),
    ),
  );

/** SPL Token `state.rs`, `Account`. */
const accountData = (payee: Address, { holder, delegate, closeAuthority }: Case): Uint8Array => {
  const tag = (right: Case["delegate"]) => (right === "none" || right === "left" ? 0 : 1);
  const key = (right: Case["delegate"]) => new Uint8Array(32).fill(right === "none" ? 0 : 0xee);
  return fieldWriter(165)
    .address(holder === "another mint" ? s.otherMint : s.mint)
    .address(holder === "another owner" ? s.stranger.address : payee)
    .u64(0n)
    .u32(tag(delegate))
    .bytes(key(delegate))
    .u8(1)
    .skip(12)
    .u64(delegate === "for nothing" ? 0n : 7n)
    .u32(tag(closeAuthority))
    .bytes(key(closeAuthority))
    .done();
};

/** What the rule says, apart from the code on either side. */
const expected = (
  foreign: string,
  { address, holder, delegate, closeAuthority }: Case,
): { readonly rule: SettlementRule | undefined; readonly refusal: string | undefined } => {
  if (holder === "another owner") return { rule: "payout_account_wrong_owner", refusal: foreign };
  if (holder === "another mint") return { rule: "payout_account_wrong_mint", refusal: foreign };
  const isDelegated = delegate === "some" || delegate === "for nothing";
  if (address === other && (isDelegated || closeAuthority === "some"))
    return { rule: "payout_account_shared", refusal: "6028 PayoutAccountShared" };
  return { rule: undefined, refusal: undefined };
};

test.each(PLACES.map((place) => [place.name, place] as const))(
  "%s: whatever the payout account is, the check before sending and the program agree",
  (_, place) => {
    const ledger = s.escrowLedger();
    const before: ReadonlyArray<LedgerAccount> = [s.escrow, s.vault].map((each) =>
      ledger.account(each),
    );
    for (const each of casesOf(place)) {
      // Of an account that is not the payee's, it does not matter who else has which right.
      if (each.holder !== "the payee" && each.delegate !== each.closeAuthority) continue;
      for (const account of before) ledger.set(account);
      ledger.time = place.time;
      ledger.put(each.address, TOKEN_PROGRAM, accountData(place.payee, each));
      const { rule, refusal } = verdicts(ledger, place.settle(each.address), [s.stranger]);
      expect({ ...each, rule, refusal }).toEqual({ ...each, ...expected(place.foreign, each) });
    }
  },
);
