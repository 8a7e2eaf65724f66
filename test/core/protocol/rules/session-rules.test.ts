import { describe, expect, test } from "bun:test";
import { createAssociatedTokenInstruction } from "../../../../core/protocol/accounts/token.ts";
import {
  captureInstruction,
  createEscrowInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { tokenAccountOf } from "../../../doubles/token-account.ts";
import {
  AGENT,
  attests,
  CREATED_AT,
  DEPLOYMENT,
  EXPIRES_AT,
  judged,
  ledgerWith,
  MERCHANT,
  merchantAccount,
  MINT,
  party,
  payment,
  proves,
  session,
} from "./session-world.ts";
import {
  capture,
  release,
  cancel,
  close,
  refund,
  rent,
  target,
  CLOSING,
  proof,
  FINAL,
  finalProof,
  partly,
  wholly,
  closing,
  released,
  cancelled,
  last,
  noTokens,
  archived,
  type Case,
} from "./session-steps.ts";

const TAKEN: ReadonlyArray<Case> = [
  { of: "a capture", instructions: [proof, capture] },
  { of: "a capture by an old attestation", instructions: [proof, capture], at: EXPIRES_AT - 1n },
  {
    of: "a capture of exactly what is vouched for, by the closing voucher too",
    instructions: [proves(session, {}, CLOSING), capture],
  },
  {
    of: "a further capture",
    instructions: [proof, capture],
    accounts: ledgerWith(partly),
  },
  {
    of: "a capture of a session that closes",
    instructions: [proof, capture],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 959n,
  },
  { of: "a release of a session", instructions: [finalProof, release] },
  {
    of: "a release that pays nothing more",
    instructions: [
      proves(session, { ...FINAL, total: 200n }, { ...CLOSING, total: 200n }),
      release,
    ],
    accounts: ledgerWith(partly),
  },
  {
    of: "a release of a single payment in part",
    instructions: [ed25519Instruction(attests(payment, { total: 1n })), release],
    accounts: ledgerWith(payment),
  },
  {
    of: "a payment into an account that an earlier instruction makes",
    instructions: [
      createAssociatedTokenInstruction({ payer: party(46), owner: MERCHANT, mint: MINT }),
      proof,
      capture,
    ],
    accounts: noTokens(ledgerWith(session), MERCHANT),
  },
  {
    of: "a payment into the fallback where the associated account is absent",
    instructions: [
      proof,
      captureInstruction(DEPLOYMENT, {
        ...target,
        merchant: MERCHANT,
        merchantFallbackAccount: party(50),
      }),
    ],
    accounts: [
      ...noTokens(ledgerWith(session), MERCHANT),
      tokenAccountOf({ owner: MERCHANT, mint: MINT }, 0n, { at: party(50) }),
    ],
  },
  {
    of: "another session's proof before its own",
    instructions: [proves({ ...session, createdSeq: 6n }), proof, capture],
  },
  { of: "a cancellation", instructions: [cancel] },
  { of: "a close", instructions: [close] },
  { of: "a close after a capture", instructions: [close], accounts: ledgerWith(partly) },
  { of: "a refund", instructions: [refund()], at: EXPIRES_AT },
  {
    of: "a refund from the end that the agent set",
    instructions: [refund()],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 960n,
  },
  {
    of: "a refund without accounts of the agent where nothing is left",
    instructions: [refund(undefined, null)],
    accounts: ledgerWith(wholly),
    at: EXPIRES_AT,
  },
  {
    of: "what is left of a released one",
    instructions: [refund()],
    accounts: ledgerWith(released),
  },
  {
    of: "what is left of an archived one",
    instructions: [refund(last(cancelled))],
    accounts: ledgerWith(cancelled, archived),
  },
  { of: "its rent", instructions: [rent()], accounts: ledgerWith(released) },
  {
    of: "the rent of an archived one",
    instructions: [rent(last(cancelled))],
    accounts: ledgerWith(cancelled, archived),
  },
  {
    of: "a release with refund and rent behind it",
    instructions: [finalProof, release, refund(), rent()],
  },
];

test.each(TAKEN.map((each) => [each.of, each] as const))(
  "finds no fault in %s",
  (_, { instructions, accounts, at }) => {
    expect(judged(instructions, accounts ?? ledgerWith(session), at)).toBeUndefined();
  },
);

describe("an escrow that is to be made lives until", () => {
  const make = (ttlSeconds: number, expiresAt?: bigint) =>
    createEscrowInstruction(DEPLOYMENT, {
      payer: party(46),
      agentOwner: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      taskHash: session.taskHash,
      sessionKey: session.sessionKey,
      amount: 1n,
      ttlSeconds,
      expiresAt,
    });
  const NOW = CREATED_AT;
  test.each([
    ["an hour from now", make(3600), undefined],
    ["a second that is given", make(0, NOW + 1n), undefined],
    ["seven days ahead", make(0, NOW + 604_800n), undefined],
    ["neither a time to live nor an end", make(0), "the time to live is 0 s"],
    ["both", make(1, NOW + 1n), "both a time to live and an end"],
    ["this very second", make(0, NOW), "the end is 0 s ahead"],
    ["longer than seven days", make(0, NOW + 604_801n), "the end is 604801 s ahead"],
    ["before this protocol", make(0, -1n), "ahead of the ledger's clock"],
  ])("%s", (_, instruction, detail) => {
    const fault = judged([instruction], [merchantAccount()], NOW);
    expect(fault?.rule).toBe(detail === undefined ? undefined : "ttl_out_of_range");
    if (detail !== undefined) expect(fault?.detail).toContain(detail);
  });
});
