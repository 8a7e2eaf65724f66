import { describe, expect, test } from "bun:test";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import type { SettlementRule } from "../../../../core/domain/relay/settlement-rule.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { createAssociatedTokenInstruction } from "../../../../core/protocol/accounts/token.ts";
import { associatedTokenAddress } from "../../../../core/protocol/addresses/addresses.ts";
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
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { tokenAccountOf } from "../../../doubles/token-account.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
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
  OTHER,
  PAYER,
  party,
  payment,
  proves,
  session,
  STRANGER,
  vouches,
} from "./session-world.ts";

const target = { escrow: session.address, mint: MINT };
const capture = captureInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const release = releaseEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const cancel = cancelEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const close = closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const refund = (lastBytes?: Uint8Array, agentOwner: typeof AGENT | null = AGENT) =>
  claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner, lastBytes });
const rent = (lastBytes?: Uint8Array, rentPayer = PAYER) =>
  returnRentInstruction(DEPLOYMENT, { ...target, rentPayer, lastBytes });

const FINAL = { isFinal: true } as const;
const CLOSING = { isClosing: true, total: 300n, count: 3 } as const;
const proof = proves(session);
const finalProof = proves(session, FINAL, CLOSING);

const attested = {
  proofHash: session.taskHash,
  total: 200n,
  timestamp: CREATED_AT + 50n,
  deliveries: 2,
  signature: new Uint8Array(64),
};
const partly = captured(session, attested);
const wholly = captured(session, { ...attested, total: 1000n });
const closing = closed(partly, CREATED_AT + 60n);
const released = settled(session, "release", CREATED_AT + 60n, attested);
const cancelled = settled(partly, "cancel", CREATED_AT + 60n);
const last = (escrow: Escrow) => encodeEscrowAccount(escrow);
const noTokens = (accounts: ReadonlyArray<LedgerAccount>, owner: typeof AGENT) =>
  accounts.filter(({ address }) => address !== associatedTokenAddress(owner, MINT));
const archived = tombstoneAccount(cancelled, DEPLOYMENT.custodyProgram);

type Case = {
  readonly of: string;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly accounts?: ReadonlyArray<LedgerAccount>;
  readonly at?: bigint;
};

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

const REFUSED: ReadonlyArray<Case & { readonly rule: SettlementRule; readonly detail: string }> = [
  {
    rule: "not_session",
    of: "a capture of a single payment",
    instructions: [ed25519Instruction(attests(payment)), capture],
    accounts: ledgerWith(payment),
    detail: "single payment",
  },
  {
    rule: "not_session",
    of: "a close of a single payment",
    instructions: [close],
    accounts: ledgerWith(payment),
    detail: "single payment",
  },
  {
    rule: "session_closing",
    of: "a second close",
    instructions: [close],
    accounts: ledgerWith(closing),
    detail: "ends at 2026-03-01T12:16:00Z",
  },
  {
    rule: "wrong_account",
    of: "a close by another wallet",
    instructions: [closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: STRANGER })],
    detail: "agent_owner",
  },
  {
    rule: "expired",
    of: "a close after expiry",
    instructions: [close],
    at: EXPIRES_AT,
    detail: "expired at",
  },
  {
    rule: "expired",
    of: "a capture at the end that the agent set",
    instructions: [proof, capture],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 960n,
    detail: "closed by its agent",
  },
  {
    rule: "expired",
    of: "a cancellation at the end that the agent set",
    instructions: [cancel],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 960n,
    detail: "closed by its agent",
  },
  {
    rule: "not_expired",
    of: "a refund before that end",
    instructions: [refund()],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 959n,
    detail: "in 1 s",
  },
  {
    rule: "not_pending",
    of: "a capture of a settled session",
    instructions: [proof, capture],
    accounts: ledgerWith(released),
    detail: "PartiallyFulfilled",
  },
  {
    rule: "attestor_revoked",
    of: "a capture after the merchant revoked",
    instructions: [proof, capture],
    accounts: ledgerWith(session, merchantAccount(5n)),
    detail: "up to event 5",
  },
  {
    rule: "ed25519_missing",
    of: "a capture alone",
    instructions: [capture],
    detail: "before the payment, instruction 0",
  },
  {
    rule: "ed25519_misplaced",
    of: "a proof behind its capture",
    instructions: [capture, proof],
    detail: "instruction 1",
  },
  {
    rule: "voucher_missing",
    of: "a session's attestation without a voucher",
    instructions: [ed25519Instruction(attests(session)), capture],
    detail: "no voucher",
  },
  {
    rule: "voucher_missing",
    of: "attestation and voucher in two instructions",
    instructions: [
      ed25519Instruction(attests(session)),
      ed25519Instruction(vouches(session)),
      capture,
    ],
    detail: "one instruction",
  },
  {
    rule: "ed25519_malformed",
    of: "another escrow's single form for a session",
    instructions: [ed25519Instruction(attests({ ...session, createdSeq: 6n })), capture],
    detail: "a session needs two",
  },
  {
    rule: "ed25519_malformed",
    of: "a session's form for a single payment",
    instructions: [ed25519Instruction(attests(payment), vouches(payment)), release],
    accounts: ledgerWith(payment),
    detail: "a single payment needs one",
  },
  {
    rule: "terms_differ",
    of: "a voucher of another session",
    instructions: [
      ed25519Instruction(attests(session), vouches({ ...session, createdSeq: 6n })),
      capture,
    ],
    detail: "the voucher signed in instruction 0 is for another escrow (terms)",
  },
  {
    rule: "terms_differ",
    of: "an attestation of another session",
    instructions: [
      ed25519Instruction(attests({ ...session, createdSeq: 6n }), vouches(session)),
      capture,
    ],
    detail: "the message signed in instruction 0 is for another escrow (terms)",
  },
  {
    rule: "wrong_attestor_key",
    of: "another attestor",
    instructions: [ed25519Instruction(attests(session, {}, OTHER), vouches(session)), capture],
    detail: session.attestor,
  },
  {
    rule: "wrong_session_key",
    of: "a voucher of another key",
    instructions: [ed25519Instruction(attests(session), vouches(session, {}, OTHER)), capture],
    detail: session.sessionKey ?? "",
  },
  {
    rule: "attestation_signature_invalid",
    of: "an attestation signed over something else",
    instructions: [
      ed25519Instruction(
        { ...attests(session), signature: attests(session, { total: 301n }).signature },
        vouches(session),
      ),
      capture,
    ],
    detail: "does not verify",
  },
  {
    rule: "voucher_signature_invalid",
    of: "a voucher signed over something else",
    instructions: [
      ed25519Instruction(attests(session), {
        ...vouches(session),
        signature: vouches(session, { total: 401n }).signature,
      }),
      capture,
    ],
    detail: "the voucher's signature",
  },
  {
    rule: "message_differs",
    of: "a final attestation at a capture",
    instructions: [finalProof, capture],
    detail: "is final",
  },
  {
    rule: "message_differs",
    of: "one that is not final at a release",
    instructions: [proves(session, {}, CLOSING), release],
    detail: "is not final",
  },
  {
    rule: "message_differs",
    of: "two deliveries of a single payment",
    instructions: [ed25519Instruction(attests(payment, { deliveries: 2 })), release],
    accounts: ledgerWith(payment),
    detail: "2 deliveries",
  },
  {
    rule: "attestation_outside_escrow",
    of: "an attestation from before the creation",
    instructions: [proves(session, { timestamp: CREATED_AT - 1n }), capture],
    detail: "before the escrow's creation",
  },
  {
    rule: "attestation_outside_escrow",
    of: "a final attestation at the end that the agent set",
    instructions: [proves(session, { ...FINAL, timestamp: CREATED_AT + 960n }, CLOSING), release],
    accounts: ledgerWith(closing),
    at: CREATED_AT + 940n,
    detail: "2026-03-01T12:16:00Z",
  },
  {
    rule: "attestation_in_future",
    of: "a capture by an attestation of later",
    instructions: [proves(session, { timestamp: CREATED_AT + 151n }), capture],
    detail: "31 s ahead",
  },
  {
    rule: "attestation_stale",
    of: "a release by an old attestation",
    instructions: [finalProof, release],
    at: CREATED_AT + 401n,
    detail: "1 s too old",
  },
  {
    rule: "wrong_voucher",
    of: "a voucher for less",
    instructions: [proves(session, {}, { total: 299n }), capture],
    detail: "allows 299 base units for 4 deliveries, and 300 base units for 3 are attested",
  },
  {
    rule: "wrong_voucher",
    of: "a voucher for fewer",
    instructions: [proves(session, {}, { count: 2 }), capture],
    detail: "for 2 deliveries,",
  },
  {
    rule: "wrong_voucher",
    of: "a voucher that is not the closing one at a release",
    instructions: [proves(session, FINAL, { ...CLOSING, isClosing: false }), release],
    detail: "closing one",
  },
  {
    rule: "wrong_voucher",
    of: "a closing voucher for more",
    instructions: [proves(session, FINAL, { ...CLOSING, total: 301n }), release],
    detail: "must be the same",
  },
  {
    rule: "amount_out_of_range",
    of: "nothing new to capture",
    instructions: [proves(session, { total: 200n }), capture],
    accounts: ledgerWith(partly),
    detail: "200 were captured before",
  },
  {
    rule: "amount_out_of_range",
    of: "a capture where all was captured before",
    instructions: [proves(session, { total: 1000n }, { total: 1000n }), capture],
    accounts: ledgerWith({ ...partly, released: 1000n }),
    detail:
      "all of the escrow's amount 1000 was captured before, and only a release, a cancellation or a refund is left",
  },
  {
    rule: "amount_out_of_range",
    of: "a release of nothing",
    instructions: [proves(session, { ...FINAL, total: 0n }, { ...CLOSING, total: 0n }), release],
    detail: "must be 1 to",
  },
  {
    rule: "amount_out_of_range",
    of: "more than the amount",
    instructions: [proves(session, { total: 1001n }, { total: 1001n }), capture],
    detail: "amount 1000",
  },
  {
    rule: "deliveries_fall",
    of: "fewer deliveries than before",
    instructions: [proves(session, { deliveries: 1 }), capture],
    accounts: ledgerWith(partly),
    detail: "1 deliveries are attested, and 2 were before",
  },
  {
    rule: "payout_account_unusable",
    of: "a capture into an absent account",
    instructions: [proof, capture],
    accounts: noTokens(ledgerWith(session), MERCHANT),
    detail: "is absent",
  },
  {
    rule: "payout_account_not_associated",
    of: "a refund without the agent's account where something is left",
    instructions: [refund(undefined, null)],
    at: EXPIRES_AT,
    detail: "agent's payout account",
  },
  {
    rule: "last_bytes_differ",
    of: "last bytes for an escrow that is whole",
    instructions: [refund(last(cancelled))],
    accounts: ledgerWith(cancelled),
    detail: "not archived",
  },
  {
    rule: "last_bytes_differ",
    of: "an archived one without its bytes",
    instructions: [rent()],
    accounts: ledgerWith(cancelled, archived),
    detail: "0 bytes given",
  },
  {
    rule: "last_bytes_differ",
    of: "an archived one with other bytes",
    instructions: [refund(last(released))],
    accounts: ledgerWith(cancelled, archived),
    detail: "last_hash",
  },
  {
    rule: "not_settled",
    of: "the rent of a Pending one",
    instructions: [rent()],
    detail: "Pending",
  },
  {
    rule: "wrong_account",
    of: "the rent to another",
    instructions: [rent(undefined, STRANGER)],
    accounts: ledgerWith(released),
    detail: "rent_payer",
  },
  {
    rule: "escrow_archived",
    of: "a capture of an archived one",
    instructions: [proof, capture],
    accounts: ledgerWith(cancelled, archived),
    detail: "archived",
  },
];

test.each(REFUSED.map((each) => [`${each.rule}: ${each.of}`, each] as const))(
  "%s",
  (_, { rule, instructions, accounts, at, detail }) => {
    const fault = judged(instructions, accounts ?? ledgerWith(session), at);
    expect(fault?.rule).toBe(rule);
    expect(fault?.detail).toContain(detail);
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
