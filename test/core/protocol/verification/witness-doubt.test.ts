import { address } from "../../../../core/domain/address.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { ARCHIVE_DELAY_SECONDS } from "../../../../core/protocol/accounts/escrow-rules.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import {
  type NodeAnswer,
  witnessDoubt,
} from "../../../../core/protocol/verification/witness-doubt.ts";
import {
  anyAttestedEscrow,
  attested,
  NETWORK,
  packetText,
  TRUST,
} from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { loggedEscrow, packetWithLog } from "../../../conformance/evidence/logged-packets.ts";
import { logPolicyText, logProofOf } from "../../../conformance/evidence/log-world.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import { captured, closed } from "../../../doubles/escrow-steps.ts";
import { pendingOf } from "../../../simulation/world-escrow.ts";

const { at: AT } = CUSTODY_ACCOUNTS.ArchivedEscrow;
const { custodyProgram } = NETWORK;
/** A clock at which every escrow here can be archived: each settles by the end of 9999. */
const LATE = 253_402_300_799n + ARCHIVE_DELAY_SECONDS;

const whole = (escrow: Escrow): LedgerAccount =>
  accountOf(escrow.address, custodyProgram, encodeEscrowAccount(escrow));

/** What a node answers that shows this account, and counts events up to the packet's last one. */
const answering = (
  packet: Escrow,
  escrow: LedgerAccount | null,
  changes: Partial<NodeAnswer["witness"]> & Partial<Omit<NodeAnswer, "witness">> = {},
): NodeAnswer => {
  const { slot = 7n, ledgerTime = LATE, ...witness } = changes;
  const custodyConfig = custodyConfigAccount(
    NETWORK,
    { count: packet.settledSeq ?? packet.createdSeq },
    address(NETWORK.genesisHash),
  );
  const genesisHash = NETWORK.genesisHash;
  return {
    slot,
    ledgerTime,
    witness: { genesisHash, escrow, merchant: null, custodyConfig, ...witness },
  };
};

const doubt = (packet: Escrow, answer: NodeAnswer) =>
  witnessDoubt(packetText(packet), TRUST, answer);
const settled = anyAttestedEscrow.filter(({ state }) => state !== "Pending");
const holds = (name: string, property: (escrow: Escrow) => void, of = settled) =>
  test(name, () => fc.assert(fc.property(of, property), runs(20)));

describe("an answer that may be judged", () => {
  holds("shows the account whole or archived, or none, or another one", (escrow) => {
    for (const shown of [
      whole(escrow),
      tombstoneAccount(escrow, custodyProgram),
      null,
      whole(pendingOf(escrow)),
      tombstoneAccount({ ...escrow, createdAt: 5n, settledAt: 9n }, custodyProgram),
    ])
      expect(doubt(escrow, answering(escrow, shown))).toBeNull();
  });
  holds("is of another ledger: the verdict says so", (escrow) => {
    const other = answering(escrow, whole(escrow), { genesisHash: "another", custodyConfig: null });
    expect(doubt(escrow, other)).toBeNull();
  });
});

describe("an answer that contradicts itself", () => {
  holds("shows an escrow and no configuration, or a lower count of events", (escrow) => {
    const counting = custodyConfigAccount(
      NETWORK,
      { count: (escrow.settledSeq ?? 1n) - 1n },
      address(NETWORK.genesisHash),
    );
    for (const shown of [whole(escrow), tombstoneAccount(escrow, custodyProgram)]) {
      const without = answering(escrow, shown, { custodyConfig: null });
      expect(doubt(escrow, without)).toContain("no configuration of the program");
      const fewer = answering(escrow, shown, { custodyConfig: counting });
      expect(doubt(escrow, fewer)).toStartWith(`it shows event ${escrow.settledSeq}`);
    }
  });
  holds("shows a tombstone whose digest proves other fields", (escrow) => {
    const tombstone = tombstoneAccount(escrow, custodyProgram);
    const changed = (at: number, by: number): LedgerAccount => ({
      ...tombstone,
      data: tombstone.data.with(at, (tombstone.data[at] ?? 0) ^ by),
    });
    // From each settled state to another one.
    const otherState = escrow.state === "Refunded" ? 1 : 2;
    for (const [at, by] of [
      [AT.state, otherState],
      [AT.pendingHash, 1],
    ] as const) {
      const said = doubt(escrow, answering(escrow, changed(at, by)));
      expect(said).toContain("a tombstone whose digest proves another");
    }
    const count = custodyConfigAccount(
      NETWORK,
      { count: 2n ** 40n - 2n },
      address(NETWORK.genesisHash),
    );
    const later = { ...escrow, settledSeq: (escrow.settledSeq ?? 0n) + 1n };
    const numbered: LedgerAccount = {
      ...tombstoneAccount(later, custodyProgram),
      data: tombstone.data.with(AT.settledSeq, Number(BigInt.asUintN(8, later.settledSeq))),
    };
    // A carry would change more bytes than one, and a number behind the last one is none.
    fc.pre(later.settledSeq < 2n ** 40n - 1n);
    fc.pre(later.settledSeq % 256n !== 0n);
    expect(doubt(escrow, answering(escrow, numbered, { custodyConfig: count }))).toContain(
      "another settlement than it names",
    );
  });
  holds("shows a tombstone before the escrow can be archived", (escrow) => {
    const at = (escrow.settledAt ?? 0n) + ARCHIVE_DELAY_SECONDS;
    const tombstone = tombstoneAccount(escrow, custodyProgram);
    const early = answering(escrow, tombstone, { ledgerTime: at - 1n });
    expect(doubt(escrow, early)).toContain("before seven days have passed");
    expect(doubt(escrow, answering(escrow, tombstone, { ledgerTime: at }))).toBeNull();
    const pending = pendingOf(escrow);
    const created = escrow.createdAt + ARCHIVE_DELAY_SECONDS - 1n;
    const custodyConfig = custodyConfigAccount(
      NETWORK,
      { count: escrow.settledSeq ?? 0n },
      address(NETWORK.genesisHash),
    );
    const tooEarly = answering(pending, tombstone, { ledgerTime: created, custodyConfig });
    expect(doubt(pending, tooEarly)).toContain("before seven days have passed");
  });
  holds("shows an escrow from after its own clock", (escrow) => {
    const ledgerTime = (escrow.settledAt ?? 0n) - 1n;
    const future = answering(escrow, whole(escrow), { ledgerTime });
    expect(doubt(escrow, future)).toContain("from after its own clock");
  });
  test("shows a session closed or attested after its own clock", () => {
    const open = loggedEscrow("session-open");
    const closing = closed(open, open.createdAt + 600n);
    const said = (shown: Escrow, after: bigint) =>
      doubt(pendingOf(open), answering(open, whole(shown), { ledgerTime: open.createdAt + after }));
    expect(said(closing, 600n)).toBeNull();
    expect(said(closing, 599n)).toContain("from after its own clock");
    expect(said(open, 270n)).toBeNull();
    expect(said(open, 269n)).toContain("from after its own clock");
  });
  holds(
    "shows a release that the attestor did not sign",
    (escrow) => {
      const attestation = escrow.attestation && {
        ...escrow.attestation,
        signature: Buffer.alloc(64, 7).toString("base64"),
      };
      const custodyConfig = custodyConfigAccount(
        NETWORK,
        { count: escrow.settledSeq ?? 0n },
        address(NETWORK.genesisHash),
      );
      const forged = answering(escrow, whole({ ...escrow, attestation }), { custodyConfig });
      for (const packet of [escrow, pendingOf(escrow)])
        expect(doubt(packet, forged)).toContain("did not sign");
    },
    settled.filter(({ attestation }) => attestation !== null),
  );
});

describe("an answer from before the packet", () => {
  holds("hides an escrow that was made since", (escrow) => {
    const pending = pendingOf(escrow);
    const at = { slot: 100n, ledgerTime: escrow.createdAt + 9n };
    const said = (slot: bigint, ledgerTime: bigint) =>
      witnessDoubt(packetText(pending, at), TRUST, answering(pending, null, { slot, ledgerTime }));
    expect(said(99n, at.ledgerTime)).toBe("it stands at slot 99, and the packet is of slot 100");
    // A packet's slot alone proves nothing: whoever invents a packet invents its slot.
    expect(said(99n, at.ledgerTime + 1n)).toBeNull();
    expect(said(100n, at.ledgerTime)).toBeNull();
  });
  test("shows less captured of a session than the packet, at an earlier slot", () => {
    const open = loggedEscrow("session-open");
    const less = captured(open, {
      proofHash: open.attestation?.proofHash ?? open.taskHash,
      total: open.released - 1n,
      timestamp: open.createdAt + 200n,
      deliveries: open.deliveries,
      signature: new Uint8Array(64),
    });
    const at = { slot: 100n, ledgerTime: open.createdAt + 600n };
    const said = (shown: Escrow, slot: bigint) => {
      const answer = answering(open, whole(attested(shown)), { ...at, slot });
      return witnessDoubt(packetText(open, at), TRUST, answer);
    };
    expect(said(less, 99n)).toBe("it stands at slot 99, and the packet is of slot 100");
    expect(said(pendingOf(open), 99n)).toBe("it stands at slot 99, and the packet is of slot 100");
    // At the packet's slot it lies, and the verdict says so.
    expect(said(less, 100n)).toBeNull();
    expect(said(open, 99n)).toBeNull();
  });
  test("shows a session that is not closed yet, at an earlier slot", () => {
    const open = loggedEscrow("session-open");
    const closing = closed(open, open.createdAt + 600n);
    const at = { slot: 100n, ledgerTime: open.createdAt + 600n };
    const said = (slot: bigint) =>
      witnessDoubt(
        packetText(closing, at),
        TRUST,
        answering(closing, whole(open), { ...at, slot }),
      );
    expect(said(99n)).toBe("it stands at slot 99, and the packet is of slot 100");
    expect(said(100n)).toBeNull();
  });
  holds("shows it Pending before it was settled", (escrow) => {
    const said = (ledgerTime: bigint) =>
      doubt(escrow, answering(escrow, whole(pendingOf(escrow)), { ledgerTime }));
    fc.pre((escrow.settledAt ?? 0n) > escrow.createdAt);
    expect(said((escrow.settledAt ?? 0n) - 1n)).toContain("before the packet's settlement");
    expect(said(escrow.settledAt ?? 0n)).toBeNull();
  });
});

describe("an answer that denies what a quorum of witnesses states", () => {
  const policy = { ...TRUST, logOnLedger: logPolicyText() };
  const said = (escrow: Escrow, answer: NodeAnswer, trust: TrustPolicy = policy) =>
    witnessDoubt(packetWithLog(escrow, logProofOf(escrow)), trust, answer);

  test("hides the escrow, shows it in another state, or counts fewer events", () => {
    const escrow = loggedEscrow("fulfilled");
    const stated = "the log's witnesses state that the ledger has this account, and ";
    expect(said(escrow, answering(escrow, null))).toBe(
      `${stated}the node shows no account at the escrow's address`,
    );
    const pending = answering(escrow, whole(pendingOf(escrow)));
    expect(said(escrow, pending)).toStartWith(`${stated}the node shows the escrow still Pending`);
    const stranger = addressFromBytes(new Uint8Array(32).fill(9));
    const other = accountOf(escrow.address, stranger, encodeEscrowAccount(escrow));
    expect(said(escrow, answering(escrow, other))).toStartWith(stated);
  });

  test("is judged where no witness has stated anything", () => {
    const escrow = loggedEscrow("fulfilled");
    const appendOnly = { ...TRUST, logAppendOnly: logPolicyText() };
    for (const trust of [TRUST, appendOnly])
      expect(said(escrow, answering(escrow, null), trust)).toBeNull();
  });
});
