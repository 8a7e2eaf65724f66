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
import type { EffectKind } from "../../../../core/protocol/rules/instruction-records.ts";
import {
  archivedBytesOf,
  escrowsOf,
  eventCausesOf,
  rivalryOf,
  signOfEffect,
} from "../../../../core/protocol/transaction/transaction-effects.ts";
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import {
  AGENT,
  CREATED_AT,
  DEPLOYMENT,
  escrowAccount,
  EXPIRES_AT,
  MERCHANT,
  MINT,
  PAYER,
  proves,
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

test("every custody instruction of an escrow names it, once, and no other instruction does", () => {
  const { instructions } = landed(capture, release, cancel, close, claim, rent);
  expect(escrowsOf(instructions, DEPLOYMENT)).toEqual([session.address]);
  for (const instruction of instructions) {
    expect(escrowsOf([instruction], DEPLOYMENT)).toEqual([session.address]);
    const foreign = { ...instruction, program: MERCHANT };
    const unread = { ...instruction, data: null };
    expect(escrowsOf([foreign, unread], DEPLOYMENT)).toEqual([]);
  }
});

describe("what an account shows", () => {
  const subject = session.address;
  const effect = (kind: EffectKind, total: bigint | null = null) => ({ kind, subject, total });
  const signs = (kind: EffectKind, escrow: typeof session, total: bigint | null = null) =>
    signOfEffect(effect(kind, total), escrowAccount(escrow), DEPLOYMENT);

  test("a capture leaves its total released, a close an end, a settlement how it came about", () => {
    expect([signs("capture", session), signs("capture", partly)]).toEqual(["absent", "shown"]);
    expect([200n, 201n].map((total) => signs("capture", partly, total))).toEqual([
      "shown",
      "absent",
    ]);
    const closing = closed(partly, CREATED_AT);
    expect([signs("close", partly), signs("close", closing)]).toEqual(["absent", "shown"]);
    expect([signs("cancel", closing), signs("cancel", cancelled)]).toEqual(["absent", "shown"]);
    expect(signs("release", cancelled)).toBe("absent");
  });

  test("a refund shows where it settled, and an escrow that others settled does not tell", () => {
    const refunded = settled(partly, "refund", EXPIRES_AT);
    expect([partly, refunded, cancelled].map((escrow) => signs("refund", escrow))).toEqual([
      "absent",
      "shown",
      "untold",
    ]);
    expect(signs("other", session)).toBe("untold");
  });

  test("a tombstone may hide any of them", () => {
    for (const kind of ["capture", "close", "release", "cancel", "refund"] as const)
      expect(signOfEffect(effect(kind), tombstone, DEPLOYMENT)).toBe("shown");
  });

  test("bytes of custody that no escrow has may hide any effect, and another program's account has none", () => {
    const { data, ...account } = escrowAccount(cancelled);
    const broken = { ...account, data: data.slice(1) };
    expect(signOfEffect(effect("release"), broken, DEPLOYMENT)).toBe("shown");
    const foreign = { ...account, data, owner: MERCHANT };
    expect(signOfEffect(effect("release"), foreign, DEPLOYMENT)).toBe("absent");
  });

  test("a settlement excludes one of its own kind, and a claim or a return of rent excludes none", () => {
    const all = [release, cancel, claim, rent, capture, close];
    const rivalries = (kind: EffectKind) =>
      all.map((each) => rivalryOf(landed(each), effect(kind), DEPLOYMENT));
    expect(rivalries("release")).toEqual(["excludes", "none", "none", "none", "none", "none"]);
    expect(rivalries("cancel")).toEqual(["none", "excludes", "none", "none", "none", "none"]);
    expect(rivalries("refund")).toEqual(["none", "none", "did", "none", "none", "none"]);
    expect(rivalries("close")).toEqual(["none", "none", "none", "none", "none", "excludes"]);
    const failed = { ...landed(release), failed: true };
    expect(rivalryOf(failed, effect("release"), DEPLOYMENT)).toBe("none");
  });

  test("a capture is excluded by a payment of as much, and others may stand on it", () => {
    const paying = (total: bigint, ...more: ReadonlyArray<Instruction>) =>
      rivalryOf(
        landed(proves(session, { total }, { total }), ...more),
        effect("capture", 300n),
        DEPLOYMENT,
      );
    expect([299n, 300n, 301n].map((total) => paying(total, capture))).toEqual([
      "none",
      "excludes",
      "did",
    ]);
    expect(paying(300n, release)).toBe("excludes");
    // Of two proofs nobody knows which one was taken.
    expect(paying(300n, proves(session, { total: 400n }), capture)).toBe("none");
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
