import { describe, expect, test } from "bun:test";
import type { Address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import type { AttestationClaim } from "../../../core/protocol/instructions/attestation.ts";
import { verdicts } from "../fixture/precheck.ts";
import * as s from "../fixture/settlement.ts";
import type { TestLedger } from "../fixture/test-ledger.ts";
import { putTokenAccount, tokenBalance } from "../fixture/token-account.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { wallet } from "../fixture/wallet.ts";

// Signatures are bearer papers: each of these pays where it belongs, and nowhere else.

/** An escrow on a ledger, and what pays its merchant. */
type Place = {
  readonly ledger: TestLedger;
  readonly escrow: Address;
  readonly merchant: Address;
  readonly names: Pick<AttestationClaim, "domain" | "terms">;
};

type Created = Parameters<typeof s.createInstruction>[0];

const otherMerchant = wallet("other merchant");
const otherGenesis = wallet("another genesis").address;

/** A ledger of some genesis on which a merchant with the one attestor key has an escrow with the one agent. */
const placeOf = (of: {
  readonly genesis?: Address;
  readonly merchant?: typeof s.merchant;
  readonly created?: Created;
  readonly before?: TestLedger;
}): Place => {
  const { genesis = s.genesisHash, merchant = s.merchant, created = {} } = of;
  const ledger = of.before ?? s.initializedLedger(genesis);
  ledger.fund(merchant.address);
  putTokenAccount(ledger, merchant.address, s.mint, 0n);
  ledger.do([s.registerInstruction(merchant, s.attestor.address)], [merchant]);
  ledger.do([s.createInstruction({ ...created, merchant: merchant.address })], [s.agent]);
  const escrow = s.escrowOf(created.taskHash ?? s.TASK);
  const names = { domain: s.domainWith(genesis), terms: s.termsOn(ledger, escrow) };
  return { ledger, escrow, merchant: merchant.address, names };
};

const PART = { total: 7n, deliveries: 1 };

/** What is signed for a place, and the instruction that takes it at the same place or another one. */
const KINDS: Readonly<
  Record<
    string,
    {
      readonly created: Created;
      readonly sign: (of: Place["names"]) => Instruction;
      readonly pay: (at: Place) => Instruction;
    }
  >
> = {
  "a release": {
    created: {},
    sign: (names) => s.attestInstruction({ ...names, total: PART.total }),
    pay: ({ escrow, merchant }) => s.releaseInstruction({ escrow, merchant }),
  },
  "a capture": {
    created: { sessionKey: s.sessionKey.address },
    sign: (names) => s.proveInstruction({ ...PART, attestation: names, voucher: names }),
    pay: ({ escrow, merchant }) => s.captureInstruction({ escrow, merchant }),
  },
  "a session's release": {
    created: { sessionKey: s.sessionKey.address },
    sign: (names) =>
      s.proveInstruction({ ...PART, isFinal: true, attestation: names, voucher: names }),
    pay: ({ escrow, merchant }) => s.releaseInstruction({ escrow, merchant }),
  },
};

/** Where else what was signed for the standard place is taken. */
const ELSEWHERE: Readonly<Record<string, (created: Created, standard: TestLedger) => Place>> = {
  "another merchant's escrow on the same ledger": (created, before) =>
    placeOf({ merchant: otherMerchant, created: { ...created, taskHash: s.hashOf(0x35) }, before }),
  "another merchant's escrow at the same address": (created) =>
    placeOf({ merchant: otherMerchant, created }),
  "the very same escrow on another ledger": (created) =>
    placeOf({ genesis: otherGenesis, created }),
};

const held = ({ ledger, escrow, merchant }: Place) => [
  ledger.account(escrow),
  ledger.account(associatedTokenAddress(escrow, s.mint)),
  tokenBalance(ledger, associatedTokenAddress(merchant, s.mint)),
];

describe.each(Object.entries(KINDS))("what is signed for %s", (_, { created, sign, pay }) => {
  test("pays where it belongs, there too where the others are", () => {
    const here = placeOf({ created });
    here.ledger.do([sign(here.names), pay(here)], [s.stranger]);
    expect(held(here)[2]).toBe(PART.total);
    for (const make of Object.values(ELSEWHERE)) {
      const there = make(created, placeOf({ created }).ledger);
      there.ledger.do([sign(there.names), pay(there)], [s.stranger]);
      expect(held(there)[2]).toBe(PART.total);
    }
  });

  test.each(Object.entries(ELSEWHERE))(
    "does not pay %s, and the service says the same",
    (_, make) => {
      const here = placeOf({ created });
      const there = make(created, here.ledger);
      for (const [from, to] of [
        [here, there],
        [there, here],
      ] as const) {
        const before = held(to);
        const proof = sign(from.names);
        const domain = to.names.domain;
        const verdict = verdicts(to.ledger, [proof, pay(to)], [s.stranger], domain);
        expect(verdict).toMatchObject({ rule: "terms_differ", refusal: "6040 WrongTerms" });
        expect(held(to)).toEqual(before);
      }
    },
  );
});

const SESSIONS = Object.entries(KINDS).filter(
  ([, { created }]) => created?.sessionKey !== undefined,
);

describe.each(SESSIONS)("what is signed for %s", (_, { created, pay }) => {
  test("does not pay in halves: one message of each place", () => {
    const here = placeOf({ created });
    for (const make of Object.values(ELSEWHERE)) {
      const there = make(created, placeOf({ created }).ledger);
      const isFinal = pay(here).data[0] === s.releaseInstruction().data[0];
      for (const halves of [
        { attestation: here.names, voucher: there.names },
        { attestation: there.names, voucher: here.names },
      ]) {
        const before = held(there);
        const proof = s.proveInstruction({ ...PART, isFinal, ...halves });
        const { domain } = there.names;
        const verdict = verdicts(there.ledger, [proof, pay(there)], [s.stranger], domain);
        expect(verdict).toMatchObject({ rule: "terms_differ", refusal: "6040 WrongTerms" });
        expect(held(there)).toEqual(before);
      }
    }
  });
});
