import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOf, type Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { LAST_UNIX_SECOND } from "../../../../core/domain/unix-time.ts";
import {
  decodeEscrowAccount,
  encodeEscrowAccount,
} from "../../../../core/protocol/accounts/escrow-account.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { anyEscrow } from "../../../arbitraries/escrow.ts";
import { attested, NETWORK, packetText, TRUST } from "../../../arbitraries/evidence.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { loggedEscrow } from "../../../conformance/evidence/logged-packets.ts";
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { tombstoneAccount } from "../../../doubles/tombstone.ts";
import { pendingOf } from "../../../simulation/world-escrow.ts";
import { failedChecks } from "./judged-packet.ts";
import {
  ATTESTOR,
  configOf,
  escrowAccount,
  merchantAccount,
  OTHER_KEY,
  witnessOf,
} from "./node-shows.ts";

describe("a packet of a session that is open", () => {
  const [open] = [loggedEscrow("session-open")];
  const attestation = (proofHash: Escrow["taskHash"]) => ({
    proofHash,
    total: open.released + 1n,
    timestamp: open.createdAt + 301n,
    deliveries: open.deliveries + 1,
    signature: new Uint8Array(64),
  });
  const more = captured(open, attestation(open.taskHash));
  const checked = (now: LedgerAccount | null) => {
    const { verdict, checks } = verifyEvidence(packetText(open), TRUST, {
      ...witnessOf(open),
      escrow: now,
    });
    const outcomeOf = (name: string) => checks.find((each) => each.name === name)?.outcome;
    return [
      verdict,
      outcomeOf("account_on_ledger"),
      outcomeOf("captured_on_ledger"),
      outcomeOf("still_pending"),
    ];
  };

  test("passes while the ledger shows at least what the packet does", () => {
    expect(checked(escrowAccount(open))).toEqual(["verified", "passed", "passed", "passed"]);
    expect(checked(escrowAccount(more))).toEqual(["verified", "passed", "passed", "passed"]);
    const closing = closed(more, open.createdAt + 400n);
    expect(checked(escrowAccount(closing))).toEqual(["verified", "passed", "passed", "passed"]);
    const gone = settled(more, "cancel", open.createdAt + 400n);
    expect(checked(escrowAccount(gone))).toEqual([
      "verified",
      "passed",
      "passed",
      "not_applicable",
    ]);
  });

  test("fails where the ledger shows less, and another escrow", () => {
    const less = captured(open, {
      ...attestation(open.taskHash),
      total: open.released - 1n,
      deliveries: open.deliveries,
    });
    expect(checked(escrowAccount(less))).toEqual(["failed", "passed", "failed", "passed"]);
    expect(checked(escrowAccount(pendingOf(open)))).toEqual([
      "failed",
      "passed",
      "failed",
      "passed",
    ]);
    const other = { ...more, rentPayer: OTHER_KEY };
    expect(checked(escrowAccount(other))).toEqual(["failed", "failed", "failed", "not_applicable"]);
  });

  test("is unproven without a node, and where a tombstone keeps no amounts", () => {
    const { checks } = verifyEvidence(packetText(open), TRUST);
    expect(checks.find(({ name }) => name === "captured_on_ledger")?.outcome).toBe("unproven");
    const gone = settled(more, "cancel", open.createdAt + 400n);
    expect(checked(tombstoneAccount(gone, NETWORK.custodyProgram))).toEqual([
      "verified",
      "passed",
      "unproven",
      "not_applicable",
    ]);
  });

  test("is not judged where nothing was captured, and once it is settled", () => {
    for (const escrow of [loggedEscrow("pending"), loggedEscrow("session-cancelled")]) {
      const { checks } = verifyEvidence(packetText(escrow), TRUST, witnessOf(escrow));
      const found = checks.find(({ name }) => name === "captured_on_ledger");
      expect(found?.outcome).toBe("not_applicable");
    }
  });
});

/** What a session was from a second of the ledger's clock on. */
type Step = { readonly escrow: Escrow; readonly from: bigint };

/** A proof hash that no capture here has: theirs are of one byte's value. */
const OTHER_PROOF = hash32FromBytes(Uint8Array.from({ length: 32 }, (_, i) => i));

const unsigned = new Uint8Array(64);

/**
 * Any life of a session: up to four captures with a closing somewhere among them or none, each some seconds after the
 * one before, and an end. Every step is signed as the ledger would have taken it.
 */
const anyLife: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .record({
    created: anyEscrow(NETWORK, ["Pending"]).filter(
      ({ sessionKey, amount, expiresAt, createdAt }) =>
        sessionKey !== null &&
        amount > 100n &&
        expiresAt - createdAt > 2000n &&
        // A packet a little later than the end has a date too.
        expiresAt < LAST_UNIX_SECOND - 60n,
    ),
    captures: fc.array(
      fc.record({
        more: fc.bigInt({ min: 1n, max: 20n }),
        deliveries: fc.nat(3),
        proof: fc.nat(255),
        // At most as far ahead of the clock as the ledger allows.
        ahead: fc.bigInt({ min: -60n, max: 30n }),
      }),
      { maxLength: 4 },
    ),
    closesBefore: fc.option(fc.nat(4)),
    waits: fc.array(fc.bigInt({ min: 1n, max: 90n }), { minLength: 6, maxLength: 6 }),
    end: fc.constantFrom("release", "refund", "cancel"),
  })
  .map(({ created, captures, closesBefore, waits, end }) => {
    const first = pendingOf({ ...created, attestor: ATTESTOR, closesAt: null });
    const steps: Array<Step> = [{ escrow: first, from: first.createdAt }];
    const last = (): Step => steps.at(-1) ?? { escrow: first, from: first.createdAt };
    const next = () => last().from + (waits[steps.length - 1] ?? 1n);
    const push = (escrow: Escrow, from: bigint) => steps.push({ escrow: attested(escrow), from });
    const close = (place: number) => {
      if (place === closesBefore) push(closed(last().escrow, next()), next());
    };
    for (const [place, { more, deliveries, proof, ahead }] of captures.entries()) {
      close(place);
      const [{ escrow }, now] = [last(), next()];
      const timestamp = now + ahead < escrow.createdAt ? escrow.createdAt : now + ahead;
      const paid = {
        proofHash: hash32FromBytes(new Uint8Array(32).fill(proof)),
        total: escrow.released + more,
        timestamp,
        deliveries: escrow.deliveries + deliveries,
        signature: unsigned,
      };
      push(captured(escrow, paid), now);
    }
    close(captures.length);
    const [{ escrow }, now] = [last(), next()];
    if (end === "refund") push(settled(escrow, end, endOf(escrow)), endOf(escrow));
    else if (end === "cancel") push(settled(escrow, end, now), now);
    else
      push(
        settled(escrow, end, now, {
          proofHash: hash32FromBytes(new Uint8Array(32).fill(7)),
          // Nothing more than was captured is as good.
          total: escrow.released === 0n ? 1n : escrow.released,
          timestamp: now,
          deliveries: escrow.deliveries,
          signature: unsigned,
        }),
        now,
      );
    return steps;
  });

/** The verdict of a packet of one step, dated with the ledger's time, by a node that shows another step. */
const judged = (packet: Escrow, ledgerTime: bigint, now: Escrow, shown = escrowAccount(now)) => {
  const text = packetText(packet, { slot: 7n, ledgerTime });
  const { verdict, checks } = verifyEvidence(text, TRUST, {
    genesisHash: NETWORK.genesisHash,
    escrow: shown,
    merchant: merchantAccount(packet, {}),
    custodyConfig: configOf(packet.createdSeq + 1n),
  });
  const failed = checks.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);
  return { verdict, failed };
};

/** Each pair of a life's steps: what the packet is of, with the last second of it, and what the node shows. */
const pairs = (life: ReadonlyArray<Step>) =>
  life.flatMap(({ escrow, from }, i) =>
    life.map((shown, j) => ({
      packet: escrow,
      isBehind: j < i,
      // The step ends in the second in which the next one happens.
      times: [from, life[i + 1]?.from ?? from],
      now: shown.escrow,
    })),
  );

describe("of any life of a session", () => {
  test("no packet fails on a node that shows it or what came after, and none passes on one that is behind", () => {
    fc.assert(
      fc.property(anyLife, (life) => {
        for (const { packet, times, now, isBehind } of pairs(life)) {
          const later = packet.state !== "Pending" && now !== packet;
          for (const time of times) {
            const { verdict } = judged(packet, time, now);
            expect(verdict).toBe(isBehind || later ? "failed" : "verified");
          }
        }
        const end = life.at(-1)?.escrow;
        if (end === undefined) throw new Error("a life has an end");
        const tombstone = tombstoneAccount(end, NETWORK.custodyProgram);
        for (const { escrow, from } of life)
          expect(judged(escrow, from, end, tombstone)).toEqual({ verdict: "verified", failed: [] });
      }),
      runs(8),
    );
  });

  // The attestor and the service lie together: each signs what it likes.
  const LIES: Readonly<
    Record<
      string,
      {
        readonly of: (escrow: Escrow, now: Escrow, dated: bigint) => Escrow | null;
        readonly failed: string;
      }
    >
  > = {
    "more captured than on the ledger": {
      of: (escrow, now) => paidOf(escrow, { released: now.released + 1n }),
      failed: "captured_on_ledger",
    },
    "more deliveries than on the ledger": {
      of: (escrow, now) => paidOf(escrow, { deliveries: now.deliveries + 1 }),
      failed: "captured_on_ledger",
    },
    "fewer deliveries for the same amount": {
      of: (escrow, now) =>
        escrow.released === now.released && escrow.deliveries > 0 && now.settledBy !== "release"
          ? paidOf(escrow, { deliveries: escrow.deliveries - 1 })
          : null,
      failed: "captured_on_ledger",
    },
    "another proof for the same amount": {
      of: (escrow, now) =>
        escrow.released === now.released && now.settledBy !== "release"
          ? paidOf(escrow, { proofHash: OTHER_PROOF })
          : null,
      failed: "captured_on_ledger",
    },
    "a closing that was not": {
      of: (escrow, now) => (now.closesAt === null ? closed(escrow, escrow.createdAt) : null),
      failed: "captured_on_ledger",
    },
    "another closing": {
      of: (escrow, now) =>
        now.closesAt === null || now.closesAt === escrow.createdAt + 900n
          ? null
          : closed(escrow, escrow.createdAt),
      failed: "captured_on_ledger",
    },
    "no closing, a second after it": {
      of: (escrow, now, dated) =>
        now.closesAt !== null && now.closesAt < now.expiresAt && dated > now.closesAt - 900n
          ? { ...escrow, closesAt: null }
          : null,
      failed: "captured_on_ledger",
    },
    "Pending, a second after the settlement": {
      of: (escrow, now, dated) =>
        now.settledAt !== null && dated > now.settledAt ? { ...escrow } : null,
      failed: "still_pending",
    },
  };
  const paidOf = (
    escrow: Escrow,
    change: Partial<Pick<Escrow, "released" | "deliveries">> & {
      readonly proofHash?: Escrow["taskHash"];
    },
  ): Escrow | null => {
    const { proofHash, ...counts } = change;
    return escrow.attestation === null
      ? null
      : {
          ...escrow,
          ...counts,
          attestation: {
            ...escrow.attestation,
            proofHash: proofHash ?? escrow.attestation.proofHash,
          },
        };
  };

  for (const [name, { of, failed }] of Object.entries(LIES))
    test(`a Pending packet that claims ${name} fails ${failed}`, () => {
      let tried = 0;
      fc.assert(
        fc.property(anyLife, (life) => {
          for (const { packet, now, isBehind } of pairs(life)) {
            if (isBehind || packet.state !== "Pending") continue;
            const dated = (life.at(-1)?.from ?? 0n) + 1n;
            const lie = of(packet, now, dated);
            if (lie === null) continue;
            tried += 1;
            expect(judged(attested(lie), dated, now).failed).toContain(failed);
          }
        }),
        runs(25),
      );
      expect(tried).toBeGreaterThan(0);
    });
});

// A lying service can sign any packet. What the attestor signed holds all of an account but these fields.
const BY_THE_LEDGER_ALONE = [
  [208, 216, "settled_at"],
  [360, 368, "settled_seq"],
  [408, 416, "closes_at"],
] as const;

describe.each(["session-open", "session-released", "session-cancelled"])(
  "an invented packet of the session %s with another byte in its account",
  (name) => {
    const escrow = loggedEscrow(name);
    const data = encodeEscrowAccount(escrow);
    const owner = NETWORK.custodyProgram;
    const { address } = escrow;

    test("fails offline, unless a node or the log alone can tell, and then fails with a node", () => {
      for (const [at, byte] of data.entries()) {
        const decoded = decodeEscrowAccount(
          { address, owner, data: data.with(at, byte ^ 1) },
          NETWORK,
        );
        // Bytes that are no account at this address fail as such: rejecting-account.ts has each rule.
        if ("fault" in decoded) continue;
        const invented = packetText(decoded.value);
        const isLedgers = BY_THE_LEDGER_ALONE.some(([from, to]) => at >= from && at < to);
        const failed = failedChecks(invented);
        expect([at, ...failed]).toEqual(isLedgers ? [at] : [at, "attestation_signature"]);
        if (!isLedgers) continue;
        const witness = { ...witnessOf(escrow), custodyConfig: configOf(2n ** 39n) };
        expect([at, verifyEvidence(invented, TRUST, witness).verdict]).toEqual([at, "failed"]);
      }
    });
  },
);
