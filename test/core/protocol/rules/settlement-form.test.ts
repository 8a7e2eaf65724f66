import { describe, expect, test } from "bun:test";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { OpenInstruction } from "../../../../core/domain/escrow/prepared-call.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { openAssociatedToken } from "../../../../core/protocol/instructions/account-instructions.ts";
import { MAX_PREPARED_BYTES } from "../../../../core/protocol/instructions/compute-budget.ts";
import {
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { readInstruction } from "../../../../core/protocol/instructions/program-call.ts";
import {
  fittingForm,
  followUps,
  preparedBytes,
  type SettlementParts,
} from "../../../../core/protocol/rules/settlement-form.ts";
import { captured } from "../../../doubles/escrow-steps.ts";
import { tokenAccountOf } from "../../../doubles/token-account.ts";
import {
  AGENT,
  attests,
  CREATED_AT,
  DEPLOYMENT,
  judged,
  ledgerWith,
  MERCHANT,
  MINT,
  party,
  PAYER,
  payment,
  proves,
  session,
} from "./session-world.ts";

const target = { escrow: session.address, mint: MINT };
const pays = { ...target, merchant: MERCHANT };
const release = releaseEscrowInstruction(DEPLOYMENT, pays);
const cancel = cancelEscrowInstruction(DEPLOYMENT, pays);
const claim = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const rent = returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER });
const single = ed25519Instruction(attests(payment));
const both = proves(session);
const open = openAssociatedToken(MERCHANT, MINT);
const lastBytes = encodeEscrowAccount(session);

const namesOf = (instructions: ReadonlyArray<OpenInstruction>): ReadonlyArray<string> =>
  instructions.map((each) => {
    const accounts = each.accounts.map(({ address, role }) => ({
      address: address ?? party(46),
      role,
    }));
    return readInstruction({ ...each, accounts }, DEPLOYMENT)?.name ?? "another program's";
  });

/** The bytes of every prepared transaction, with compute budget and price; nobody is its payer already. */
const SIZES: ReadonlyArray<readonly [string, Parameters<typeof preparedBytes>, number]> = [
  [
    "create_escrow",
    [
      "create_escrow",
      [
        createEscrowInstruction(DEPLOYMENT, {
          payer: party(46),
          agentOwner: AGENT,
          merchant: MERCHANT,
          mint: MINT,
          taskHash: session.taskHash,
          sessionKey: session.sessionKey,
          amount: 1n,
          ttlSeconds: 1,
        }),
      ],
      party(46),
    ],
    783,
  ],
  ["capture", ["capture", [both, captureInstruction(DEPLOYMENT, pays)], null], 970],
  [
    "capture into an account that it makes",
    ["capture", [open, both, captureInstruction(DEPLOYMENT, pays)], null],
    1108,
  ],
  ["release of a single payment", ["release_escrow", [single, release], null], 806],
  [
    "release of a single payment, refund and rent",
    ["release_escrow", [single, release, claim, rent], null],
    909,
  ],
  [
    "the same into an account that it makes",
    ["release_escrow", [open, single, release, claim, rent], null],
    1047,
  ],
  ["release of a session", ["release_escrow", [both, release], null], 1036],
  ["release of a session and refund", ["release_escrow", [both, release, claim], null], 1090],
  [
    "release of a session, refund and rent",
    ["release_escrow", [both, release, claim, rent], null],
    1139,
  ],
  [
    "release of a session into an account that it makes",
    ["release_escrow", [open, both, release], null],
    1174,
  ],
  ["cancel, refund and rent", ["cancel_escrow", [cancel, claim, rent], null], 561],
  [
    "close_session",
    [
      "close_session",
      [closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT })],
      null,
    ],
    361,
  ],
  ["refund and rent", ["claim_refund", [claim, rent], null], 451],
  [
    "refund of an archived escrow",
    [
      "claim_refund",
      [claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT, lastBytes })],
      null,
    ],
    819,
  ],
  [
    "rent of an archived escrow",
    [
      "return_rent",
      [returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER, lastBytes })],
      null,
    ],
    718,
  ],
];

test.each(SIZES)("%s has its size", (_, given, bytes) => {
  expect(preparedBytes(...given)).toBe(bytes);
});

describe("a settlement's fullest form that fits", () => {
  const parts = (given: Partial<SettlementParts>): SettlementParts => ({
    operation: "release_escrow",
    opens: [],
    calls: [both, release],
    claim: [claim],
    rent: [rent],
    ...given,
  });
  const formed = (given: Partial<SettlementParts>) => {
    const form = fittingForm(parts(given), null);
    expect(preparedBytes("release_escrow", form.instructions, null)).toBeLessThanOrEqual(
      MAX_PREPARED_BYTES,
    );
    return { before: namesOf(form.before), names: namesOf(form.instructions) };
  };
  const other = "another program's";

  test("has everything of a single payment, an account that it makes too", () => {
    expect(formed({ opens: [open], calls: [single, release] })).toEqual({
      before: [],
      names: [other, other, "release_escrow", "claim_refund", "return_rent"],
    });
  });

  test("of a session lacks the rent first, and has it where the payer is its merchant's wallet", () => {
    expect(formed({})).toEqual({ before: [], names: [other, "release_escrow", "claim_refund"] });
    // The rent payer's own transaction names one account less.
    expect(namesOf(fittingForm(parts({}), PAYER).instructions)).toEqual([
      other,
      "release_escrow",
      "claim_refund",
      "return_rent",
    ]);
  });

  test("makes an absent account in a transaction before when nothing else can be dropped", () => {
    expect(formed({ opens: [open] })).toEqual({
      before: [other],
      names: [other, "release_escrow", "claim_refund"],
    });
  });

  test("is the bare one where nothing would succeed behind it", () => {
    expect(formed({ claim: [], rent: [] })).toEqual({
      before: [],
      names: [other, "release_escrow"],
    });
  });
});

describe("what goes behind a settlement", () => {
  const agent = (other: Parameters<typeof tokenAccountOf>[2] = {}): LedgerAccount =>
    tokenAccountOf({ owner: AGENT, mint: MINT }, 0n, other);
  const left = {
    released: 300n,
    held: 1000n,
    agentTokens: agent(),
    agentFallback: null,
    closesVault: false,
  };
  const behind = (other: Partial<typeof left | { agentTokens: LedgerAccount | null }> = {}) => {
    const { claim, rent } = followUps(DEPLOYMENT, session, { ...left, ...other });
    return [...claim, ...rent];
  };

  test("returns what is left to the agent's account, and the rent", () => {
    expect(behind()).toEqual([claim, rent]);
  });

  test("is the rent alone where the settlement closes the vault", () => {
    expect(behind({ released: 1000n, closesVault: true })).toEqual([rent]);
  });

  test("names no account of the agent where nothing is left", () => {
    const nobody = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: null });
    expect(behind({ released: 1000n })).toEqual([nobody, rent]);
    const all = captured(session, {
      proofHash: session.taskHash,
      total: 1000n,
      timestamp: CREATED_AT,
      deliveries: 1,
      signature: new Uint8Array(64),
    });
    const { claim } = followUps(DEPLOYMENT, all, { ...left, released: 1000n, held: 0n });
    expect(claim).toEqual([nobody]);
  });

  test("is nothing where the agent has no account to be paid into: the settlement makes none at its sender's cost", () => {
    expect(behind({ agentTokens: null })).toEqual([]);
    expect(behind({ agentTokens: agent({ isFrozen: true }) })).toEqual([]);
  });

  test("pays the agent's other account where the associated one is absent or frozen", () => {
    const agentFallback = agent({ at: party(51) });
    const other = claimRefundInstruction(DEPLOYMENT, {
      ...target,
      agentOwner: AGENT,
      agentFallbackAccount: party(51),
    });
    for (const agentTokens of [null, agent({ isFrozen: true })])
      expect(followUps(DEPLOYMENT, session, { ...left, agentTokens, agentFallback }).claim).toEqual(
        [other],
      );
  });

  test("breaks no rule of the relay behind its release", () => {
    const proof = proves(session, { isFinal: true }, { isClosing: true, total: 300n, count: 3 });
    const { claim, rent } = followUps(DEPLOYMENT, session, left);
    const instructions = [proof, release, ...claim, ...rent].map((each) => ({
      ...each,
      accounts: each.accounts.map(({ address, role }) => ({ address: address ?? party(46), role })),
    }));
    expect(judged(instructions, ledgerWith(session))).toBeUndefined();
  });
});
