import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TrustPolicy } from "../../../../core/domain/evidence/evidence-check.ts";
import {
  type FreshLog,
  freshTiles,
} from "../../../../core/protocol/verification/verify-fresh-log.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { NETWORK, TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { loggedEscrow, packetWithLog } from "../../../conformance/evidence/logged-packets.ts";
import {
  checkpointNote,
  leavesWith,
  LOG_KEY,
  logPolicyText,
  logProofOf,
  type NoteKey,
  noteKey,
  tileBytes,
  type Tree,
  treeOf,
  witnessLine,
  WITNESSES,
} from "../../../conformance/evidence/log-world.ts";
import { printSignatures } from "../../../../core/log/notes/signed-note.ts";
import type { Checkpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { address } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { eventsIn } from "../../../../core/log/tree/frontier.ts";
import { subtreesOf } from "../../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import type { LedgerWitness } from "../../../../core/protocol/verification/verify-on-ledger.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";

const POLICY: TrustPolicy = { ...TRUST, logOnLedger: logPolicyText() };
const ESCROW = loggedEscrow("fulfilled");
const LEAVES = leavesWith(ESCROW);
const packetOf = (size: number) => packetWithLog(ESCROW, logProofOf(ESCROW, { size }));

const noteOf = (
  { size, root }: Tree,
  witnesses: ReadonlyArray<NoteKey> = WITNESSES.slice(0, 2),
  log = LOG_KEY,
) => checkpointNote({ origin: log.key.name, size, root }, witnesses, log);

/** What a log with a tree answers about a packet. */
const answerOf = (packet: string, tree: Tree, checkpoint = noteOf(tree)): FreshLog => ({
  checkpoint,
  tiles: new Map(
    freshTiles(packet, checkpoint).map((path) => [path, tileBytes(tree, path) ?? new Uint8Array()]),
  ),
});

const consistency = (packet: string, fresh: FreshLog | undefined, trust = POLICY) => {
  const { verdict, checks } = verifyEvidence(packet, trust, undefined, fresh);
  const found = checks.find(({ name }) => name === "log_consistency");
  return { verdict, outcome: found?.outcome, reason: found?.reason };
};

describe("a packet's checkpoint compared with the log's of now", () => {
  test("a log that has grown passes, with what the counted cosignatures state", () => {
    const packet = packetOf(300);
    expect(consistency(packet, answerOf(packet, treeOf(900, LEAVES)))).toEqual({
      verdict: "verified",
      outcome: "passed",
      reason:
        "the log's tree of 900 leaves begins with the packet's of 300; complete up to event 899 as of 2026-08-01T00:00:00Z, by 2 witnesses at their nodes",
    });
  });

  test("any two sizes of one log pass; a changed leaf below the older size fails", () => {
    const size = fc.integer({ min: 258, max: 1100 });
    fc.assert(
      fc.property(size, size, fc.integer({ min: 0, max: 257 }), (a, b, at) => {
        const [older, newer] = a < b ? [a, b] : [b, a];
        const packet = packetOf(older);
        expect(consistency(packet, answerOf(packet, treeOf(newer, LEAVES))).outcome).toBe("passed");
        const forged = new Map([...LEAVES, [BigInt(at), Uint8Array.of(1, 2, 3)]]);
        const lie = answerOf(packet, treeOf(newer, forged));
        expect(consistency(packet, lie)).toEqual({
          verdict: "failed",
          outcome: "failed",
          reason: `the log's tree of ${newer} leaves does not begin with the packet's of ${older}`,
        });
      }),
      runs(8),
    );
  });

  test("a tile that is missing, short or changed fails", () => {
    const packet = packetOf(300);
    const fresh = answerOf(packet, treeOf(900, LEAVES));
    expect(fresh.tiles.size).toBeGreaterThan(0);
    for (const [path, bytes] of fresh.tiles) {
      const short = new Map([...fresh.tiles, [path, bytes.slice(32)]]);
      const without = new Map([...fresh.tiles].filter(([other]) => other !== path));
      for (const tiles of [without, short])
        expect([path, consistency(packet, { ...fresh, tiles }).outcome]).toEqual([path, "failed"]);
    }
    const everyHash = new Map(
      [...fresh.tiles].map(([path, bytes]) => [path, bytes.map((byte) => byte ^ 1)]),
    );
    expect(consistency(packet, { ...fresh, tiles: everyHash }).outcome).toBe("failed");
  });

  test("that the log ended is said; one that has signed more than its end fails", () => {
    const packet = packetOf(300);
    const tree = treeOf(900, LEAVES);
    const ended = checkpointNote(
      { origin: LOG_KEY.key.name, size: 900, root: tree.root, isLast: true },
      WITNESSES.slice(0, 2),
    );
    expect(consistency(packet, answerOf(packet, tree, ended))).toEqual({
      verdict: "verified",
      outcome: "passed",
      reason:
        "the log's tree of 900 leaves begins with the packet's of 300; the log ended at 900 leaves; ended after event 899 as of 2026-08-01T00:00:00Z, by 2 witnesses at their nodes",
    });
    const note = (_: string, checkpoint: Checkpoint) =>
      checkpointNote({ ...checkpoint, isLast: true }, WITNESSES.slice(0, 2));
    const last = packetWithLog(ESCROW, logProofOf(ESCROW, { note }));
    expect(consistency(last, answerOf(last, tree))).toMatchObject({
      outcome: "failed",
      reason: "the log ended at 300 leaves, by the packet's checkpoint, and has signed 900",
    });
    const reasonOf = (name: string) =>
      verifyEvidence(last, POLICY).checks.find((check) => check.name === name)?.reason ?? "";
    expect(reasonOf("log_inclusion")).toEndWith("as leaf 257 of 300; the log ended at 300 leaves");
    expect(reasonOf("witnessed_on_ledger")).toStartWith("ended after event 299 as of ");
  });

  test("an older checkpoint decides nothing", () => {
    const packet = packetOf(300);
    expect(consistency(packet, answerOf(packet, treeOf(258, LEAVES)))).toEqual({
      verdict: "verified",
      outcome: "unproven",
      reason: "the log serves a checkpoint of 258 leaves, older than the packet's of 300",
    });
  });

  test("a checkpoint of another log, or that no log of the policy signed, fails", () => {
    const packet = packetOf(300);
    const tree = treeOf(300, LEAVES);
    const other = noteKey(LOG_KEY.key.name.replace(/0$/, "1"), "ed25519", 30);
    const both = { ...POLICY, logOnLedger: logPolicyText(undefined, undefined, [LOG_KEY, other]) };
    const stranger = noteKey(LOG_KEY.key.name, "ed25519", 31);
    const asked = (note: string, trust = POLICY) =>
      consistency(packet, answerOf(packet, tree, note), trust);
    expect(asked(noteOf(tree, undefined, other), both).reason).toBe(
      `the log is ${other.key.name}, and the packet's is ${LOG_KEY.key.name}`,
    );
    for (const note of [noteOf(tree, undefined, stranger), "", "<html>", noteOf(tree).slice(1)])
      expect(asked(note)).toMatchObject({ verdict: "failed", outcome: "failed" });
  });

  test("a cosignature that is missing decides nothing, in either policy; one that does not verify fails", () => {
    const packet = packetOf(300);
    const tree = treeOf(300, LEAVES);
    const [alpha, beta, gamma] = WITNESSES;
    const growing = noteKey("delta.example/w", "cosignature", 24);
    const logAppendOnly = logPolicyText("quorum alpha", "", undefined, [growing]);
    const trust = { ...POLICY, logAppendOnly };
    const asked = (note: string) => consistency(packet, answerOf(packet, tree, note), trust);
    expect(asked(noteOf(tree, [alpha]))).toEqual({
      verdict: "verified",
      outcome: "unproven",
      reason:
        "the log's checkpoint: log_on_ledger: quorum q wants 2 of [alpha, beta, gamma]; signed: alpha; log_append_only: quorum alpha wants 1 of [alpha]; signed: none",
    });
    expect(asked(noteOf(tree, [alpha, gamma])).outcome).toBe("unproven");
    expect(asked(noteOf(tree, [growing, gamma, beta]))).toEqual({
      verdict: "verified",
      outcome: "passed",
      reason:
        "the log's tree of 300 leaves begins with the packet's of 300; complete up to event 299 as of 2026-08-01T00:00:01Z, by 2 witnesses at their nodes; append-only up to event 299 as of 2026-08-01T00:00:00Z, by 1 witness",
    });
    const none = { ...POLICY, logOnLedger: logPolicyText("quorum none") };
    expect(consistency(packet, answerOf(packet, tree), none).reason).toEndWith(
      "no witness dates it",
    );
    for (const witness of [growing, gamma]) {
      const line = witnessLine(witness, "another text\n");
      const forged = noteOf(tree, [alpha, beta]) + printSignatures([line]);
      expect(asked(forged)).toMatchObject({
        verdict: "failed",
        reason: `the log's checkpoint: the signature of ${witness.key.name} does not verify`,
      });
    }
  });

  test("a tree that does not begin with the packet's fails, with or without a quorum", () => {
    const packet = packetOf(300);
    const lie = treeOf(300, new Map([...LEAVES, [1n, Uint8Array.of(1)]]));
    expect(consistency(packet, answerOf(packet, lie, noteOf(lie, []))).outcome).toBe("failed");
  });

  test("nothing is compared without a proof, without a log in the policy, or when the log is not asked", () => {
    const fresh = { checkpoint: noteOf(treeOf(300, LEAVES)), tiles: new Map() };
    expect(consistency(packetWithLog(ESCROW, null), fresh).outcome).toBe("unproven");
    expect(consistency(packetOf(300), fresh, TRUST).outcome).toBe("not_applicable");
    expect(consistency(packetOf(300), undefined)).toMatchObject({
      outcome: "not_applicable",
      reason: "the log was not asked",
    });
    expect(freshTiles("{}", fresh.checkpoint)).toEqual([]);
  });
});

describe("a packet's checkpoint compared with the ledger's own log", () => {
  const PACKET = packetOf(300);
  const number = ESCROW.settledSeq ?? ESCROW.createdSeq;

  /** The configuration of a ledger that has logged a tree. */
  const configOf = (tree: Tree): LedgerAccount => {
    const roots = subtreesOf({ from: 0, to: tree.size }).map(tree.source);
    const events = eventsIn(new TreeEdge(tree.size, roots));
    return custodyConfigAccount(NETWORK, events, address(NETWORK.genesisHash));
  };

  /** What a node shows that hides the escrow and its merchant. */
  const hiding = (custodyConfig: LedgerAccount): LedgerWitness => ({
    genesisHash: NETWORK.genesisHash,
    escrow: null,
    merchant: null,
    custodyConfig,
  });

  /**
   * What is said of the account where the ledger has logged one tree and the log serves another one, whose checkpoint
   * is of `signed`.
   */
  const said = (ledger: Tree, served: Tree, signed = 700) => {
    const checkpoint = noteOf(treeOf(signed, LEAVES));
    const config = configOf(ledger);
    const tiles = new Map(
      freshTiles(PACKET, checkpoint, config).flatMap((path) => {
        const bytes = tileBytes(served, path);
        return bytes === undefined ? [] : [[path, bytes] as const];
      }),
    );
    const { checks } = verifyEvidence(PACKET, POLICY, hiding(config), { checkpoint, tiles });
    return checks.find(({ name }) => name === "account_on_ledger");
  };

  test("tiles that lead to the root that a node shows prove the account, whatever stands at its address", () => {
    for (const size of [300, 301, 512, 900])
      expect(said(treeOf(size, LEAVES), treeOf(size, LEAVES))).toMatchObject({
        outcome: "passed",
        reason: `the ledger's own log of ${size - 1} events holds the account's last one, by the root that the node shows`,
      });
  });

  test("of a Pending packet the log proves the creation, and the account says what became of it", () => {
    const pending = loggedEscrow("pending");
    const leaves = leavesWith(pending);
    const packet = packetWithLog(pending, logProofOf(pending, { size: 300 }));
    const tree = treeOf(900, leaves);
    const checkpoint = noteOf(tree);
    const custodyConfig = configOf(tree);
    const tiles = new Map(
      freshTiles(packet, checkpoint, custodyConfig).map(
        (path) => [path, tileBytes(tree, path) ?? new Uint8Array()] as const,
      ),
    );
    const refunded: Escrow = {
      ...pending,
      state: "Refunded",
      settledAt: pending.expiresAt,
      settledBy: "refund",
      settledSeq: pending.createdSeq + 1n,
    };
    const escrow: LedgerAccount = {
      address: pending.address,
      owner: NETWORK.custodyProgram,
      lamports: 1n,
      executable: false,
      data: encodeEscrowAccount(refunded),
    };
    const witness = { ...hiding(custodyConfig), escrow };
    const { checks } = verifyEvidence(packet, POLICY, witness, { checkpoint, tiles });
    expect(checks.find(({ name }) => name === "account_on_ledger")).toMatchObject({
      outcome: "passed",
      reason: "the escrow stands on the ledger and is Refunded by now",
    });
  });

  test("without such tiles, and on a ledger of another history or an earlier state, the account decides", () => {
    const others = new Map([...LEAVES, [number - 1n, new Uint8Array(66).fill(9)]]);
    const fork = treeOf(900, others);
    const whole = treeOf(900, LEAVES);
    for (const [ledger, served] of [
      [whole, treeOf(899, LEAVES)],
      [fork, whole],
      [fork, fork],
      [treeOf(299, LEAVES), whole],
    ] as const)
      expect(said(ledger, served)?.outcome).toBe("failed");
  });
});
