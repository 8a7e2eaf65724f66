import { describe, expect, test } from "bun:test";
import { seqCausedBy } from "../../../../core/domain/index/settlement-event.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { parseLedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import {
  archiveEscrowInstruction,
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import {
  archivedBytesOf,
  eventCausesOf,
  hadEffect,
  showsEffect,
} from "../../../../core/protocol/transaction/transaction-effects.ts";
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import {
  AGENT,
  CREATED_AT,
  DEPLOYMENT,
  escrowAccount,
  MERCHANT,
  MINT,
  PAYER,
  session,
} from "../rules/session-world.ts";

const target = { escrow: session.address, mint: MINT };
const capture = captureInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const release = releaseEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const cancel = cancelEscrowInstruction(DEPLOYMENT, { ...target, merchant: MERCHANT });
const close = closeSessionInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const claim = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT });
const rent = returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER });

const landed = (...instructions: ReadonlyArray<Instruction>) => ({
  signature: parseLedgerSignature("1".repeat(64)) as never,
  slot: 5n,
  failed: false,
  signers: new Set<never>(),
  accounts: [],
  hasCalls: true,
  instructions: instructions.map(({ programAddress, accounts, data }) => ({
    program: programAddress,
    accounts: accounts.map(({ address }) => address),
    data,
  })),
});

const partly = captured(session, {
  proofHash: session.taskHash,
  total: 200n,
  timestamp: CREATED_AT,
  deliveries: 2,
  signature: new Uint8Array(64),
});
const cancelled = settled(partly, "cancel", CREATED_AT + 1n);
const tombstone = tombstoneAccount(cancelled, DEPLOYMENT.custodyProgram);

describe("events", () => {
  test("a capture, a close and a return of rent cause none", () => {
    expect(eventCausesOf(landed(capture, close, rent), DEPLOYMENT)).toEqual([]);
  });

  test("a release, a cancellation and a refund cause one each, and of one escrow only the one that settled it", () => {
    const causes = eventCausesOf(landed(release, cancel, claim), DEPLOYMENT);
    expect(causes.map(({ by }) => by)).toEqual(["release", "cancel", "refund"]);
    expect(causes.map(({ by }) => seqCausedBy(cancelled, by))).toEqual([
      null,
      cancelled.settledSeq,
      null,
    ]);
    const { createdSeq, settledSeq } = cancelled;
    expect(causes.map(({ by }) => seqCausedBy({ createdSeq, settledSeq }, by))).toEqual([
      settledSeq,
      settledSeq,
      settledSeq,
    ]);
    expect(seqCausedBy(session, "refund")).toBeNull();
    expect(seqCausedBy(session, "creation")).toBe(session.createdSeq);
  });
});

describe("what an account shows", () => {
  const subject = session.address;
  const shows = (kind: "capture" | "close" | "settle", escrow: typeof session) =>
    showsEffect({ kind, subject }, escrowAccount(escrow), DEPLOYMENT);

  test("a capture leaves something released, a close an end, a settlement a state", () => {
    expect([shows("capture", session), shows("capture", partly)]).toEqual([false, true]);
    const closing = closed(partly, CREATED_AT);
    expect([shows("close", partly), shows("close", closing)]).toEqual([false, true]);
    expect([shows("settle", closing), shows("settle", cancelled)]).toEqual([false, true]);
  });

  test("a tombstone may hide any of them", () => {
    for (const kind of ["capture", "close", "settle"] as const)
      expect(showsEffect({ kind, subject }, tombstone, DEPLOYMENT)).toBe(true);
  });

  test("refund and rent say that the escrow is settled, whoever did it", () => {
    for (const instruction of [release, cancel, claim, rent])
      expect(hadEffect(landed(instruction), { kind: "settle", subject }, DEPLOYMENT)).toBe(true);
    expect(hadEffect(landed(capture), { kind: "settle", subject }, DEPLOYMENT)).toBe(false);
    expect(hadEffect(landed(capture), { kind: "capture", subject }, DEPLOYMENT)).toBe(true);
    expect(hadEffect(landed(close), { kind: "close", subject }, DEPLOYMENT)).toBe(true);
  });
});

test("last bytes are found in an archiving, and in a refund and a return of rent of an archived escrow", () => {
  const lastBytes = encodeEscrowAccount(cancelled);
  const archive = archiveEscrowInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER, lastBytes });
  const later = claimRefundInstruction(DEPLOYMENT, { ...target, agentOwner: AGENT, lastBytes });
  const rentLater = returnRentInstruction(DEPLOYMENT, { ...target, rentPayer: PAYER, lastBytes });
  const found = { escrow: session.address, data: lastBytes };
  for (const instruction of [archive, later, rentLater])
    expect(archivedBytesOf(landed(instruction, claim, rent), DEPLOYMENT)).toEqual([found]);
});
