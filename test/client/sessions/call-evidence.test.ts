import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { callEvidences } from "../../../client/sessions/evidence/call-evidences.ts";
import type { KeptCall } from "../../../client/sessions/store/session-store.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { verdictText } from "../../../core/domain/evidence/verdict-text.ts";
import { callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent } from "../../../core/protocol/calls/call-order.ts";
import type { CallVerdict } from "../../../core/domain/evidence/evidence-check.ts";
import { verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import { verifyEquivocation } from "../../../core/protocol/verification/verify-equivocation.ts";
import { equivocationText } from "../../../core/protocol/calls/equivocation.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { packetText, TRUST } from "../../arbitraries/evidence.ts";
import { runs } from "../../arbitraries/runs.ts";
import { witnessOf } from "../../core/protocol/verification/node-shows.ts";
import { captured, settled } from "../../doubles/escrow-steps.ts";
import { attest, ESCROW, honestCalls } from "../../doubles/session-sides.ts";

const CALLS = honestCalls(
  Array.from({ length: 13 }, (_, i) => ({ limit: 100n, price: BigInt(50 + i) })),
);

const keptOf = ({ voucher, receipt, answered }: (typeof CALLS)[number]): KeptCall => ({
  voucher,
  receipt,
  intent: callIntent("GET", answered.url, new Uint8Array()) ?? "",
  status: answered.status,
});
const KEPT_CALLS = CALLS.map(keptOf);

/** The session's escrow after a capture of its first `count` calls, or a release of them all. */
const escrowAfter = (count: number, isReleased = false) => {
  const call = CALLS[count - 1];
  if (call === undefined) return ESCROW;
  const { after, receipt } = call;
  const timestamp = receipt.attestation.timestamp;
  const { signature } = attest({
    deliveries: after.deliveries,
    total: after.total,
    timestamp,
    count,
    isFinal: isReleased,
  });
  const attested = {
    proofHash: after.deliveries,
    total: after.total,
    timestamp,
    deliveries: count,
    signature,
  };
  return isReleased
    ? settled(ESCROW, "release", timestamp + 5n, attested)
    : captured(ESCROW, attested);
};

const packetOf = (escrow = ESCROW): Json =>
  JSON.parse(packetText(escrow, { slot: 7n, ledgerTime: 1_772_366_600n })) as Json;

const evidenceFrom = (escrow = ESCROW) => {
  const { deliveries, attestation } = escrow;
  const onLedger = { deliveries, proofHash: attestation?.proofHash ?? null };
  return callEvidences(packetOf(escrow), onLedger, KEPT_CALLS);
};

const shownOf = (count: number) => {
  const call = CALLS[count - 1];
  return { payload: call === undefined ? null : callPayload(call.answered), isOrderShown: true };
};

const failedIn = ({ checks }: CallVerdict): ReadonlyArray<string> =>
  checks.filter(({ outcome }) => outcome === "failed").map(({ name }) => name);

const RELEASED = evidenceFrom(escrowAfter(13, true));

test("the vector that strangers compare with is the evidence of call 6 of a released session", () => {
  expect(RELEASED(6, shownOf(6))).toBe(
    readFileSync(join(import.meta.dir, "../../vectors/evidence/call.json"), "utf8").trimEnd(),
  );
});

describe("the evidence of a call", () => {
  test("of a released session: each call is verified, ordered, delivered and paid", () => {
    for (let count = 1; count <= CALLS.length; count++) {
      const verdict = verifyCall(RELEASED(count, shownOf(count)), TRUST);
      expect(failedIn(verdict)).toEqual([]);
      expect(verdict.verdict).toBe("verified");
      expect(verdict.call).toEqual({
        escrow: ESCROW.address,
        count,
        price_stroops: String(49 + count),
        limit_stroops: "100",
        ordered: KEPT_CALLS[count - 1]?.intent ?? null,
        delivered: { attestor: ESCROW.attestor, at: 1_772_366_500 + count },
        settlement: "paid",
      });
    }
  });

  test("a capture that no node shows pays nothing: a packet shows any that its maker has signatures for", () => {
    const evidence = evidenceFrom(escrowAfter(5));
    const { verdict, call } = verifyCall(evidence(5, shownOf(5)), TRUST);
    expect([verdict, call?.settlement]).toEqual(["verified", "attested"]);
  });

  test("after a capture of five calls that a node shows, those are paid and the others attested", () => {
    const evidence = evidenceFrom(escrowAfter(5));
    const settlements = KEPT_CALLS.map(
      (_, at) =>
        verifyCall(evidence(at + 1, shownOf(at + 1)), TRUST, witnessOf(escrowAfter(5))).call
          ?.settlement,
    );
    expect(settlements).toEqual([
      ...Array.from({ length: 5 }, () => "paid" as const),
      ...Array.from({ length: 8 }, () => "attested" as const),
    ]);
  });

  test("before any capture, calls are attested", () => {
    const verdict = verifyCall(evidenceFrom()(3, shownOf(3)), TRUST);
    expect([verdict.verdict, verdict.call?.settlement]).toEqual(["verified", "attested"]);
  });

  test("hides order and payload where it is asked to", () => {
    const text = RELEASED(4, { payload: null, isOrderShown: false });
    expect(text).not.toContain("quotes/4");
    expect(text).not.toContain(Buffer.from(KEPT_CALLS[3]?.voucher.nonce ?? []).toString("base64"));
    const { verdict, call, checks } = verifyCall(text, TRUST);
    expect([verdict, call?.ordered]).toEqual(["verified", null]);
    expect(checks.find(({ name }) => name === "call_payload")?.outcome).toBe("unproven");
    const alone = { verdict, amounts: null, call, checks: checks.slice(-1) };
    expect(verdictText(alone, "offline")).toContain("Not shown here: call_payload.\n");
  });

  test("without a trust document is untrusted at best", () => {
    expect(verifyCall(RELEASED(4, shownOf(4)), null).verdict).toBe("untrusted");
  });

  test("has the checks of its packet too", () => {
    const names = verifyEvidence(JSON.stringify(packetOf(escrowAfter(13, true))), TRUST).checks;
    const all = verifyCall(RELEASED(4, shownOf(4)), TRUST).checks;
    expect(all.slice(0, names.length)).toEqual(names.slice());
  });

  test("of a call before one that is not kept cannot be made", () => {
    const rest = KEPT_CALLS.slice(1);
    const onLedger = { deliveries: 0, proofHash: null };
    expect(() => callEvidences(packetOf(), onLedger, rest)).toThrow("Call 1");
    expect(() => evidenceFrom()(14, shownOf(14))).toThrow("Call 14");
  });
});

type Document = { [name: string]: Json };
const changed = (text: string, change: (document: Document) => void): CallVerdict => {
  const document = JSON.parse(text) as Document;
  change(document);
  return verifyCall(JSON.stringify(document), TRUST);
};

describe("a tampered evidence fails", () => {
  const text = RELEASED(6, shownOf(6));
  const other = JSON.parse(RELEASED(7, shownOf(7))) as Document;
  const member = (document: Document, name: string): Document => document[name] as Document;

  test.each<[string, string, (document: Document) => void]>([
    [
      "words of another order",
      "call_order",
      (d) => {
        d["intent"] = other["intent"] ?? null;
      },
    ],
    [
      "another call's voucher",
      "call_order",
      (d) => {
        d["voucher_base64"] = other["voucher_base64"] ?? null;
      },
    ],
    [
      "another call's order path",
      "call_order",
      (d) => {
        d["order_path_base64"] = other["order_path_base64"] ?? null;
      },
    ],
    [
      "another call's leaf",
      "call_inclusion",
      (d) => {
        d["delivered"] = other["delivered"] ?? null;
      },
    ],
    [
      "another path",
      "call_inclusion",
      (d) => {
        member(d, "delivered")["path_base64"] = member(other, "delivered")["path_base64"] ?? null;
      },
    ],
    [
      "no leaf before",
      "call_price",
      (d) => {
        d["before"] = null;
      },
    ],
    [
      "another leaf before",
      "call_price",
      (d) => {
        d["before"] = other["before"] ?? null;
      },
    ],
    [
      "another payload",
      "call_payload",
      (d) => {
        d["payload"] = other["payload"] ?? null;
      },
    ],
    [
      "a payload with one more member",
      "call_payload",
      (d) => {
        member(d, "payload")["x"] = 1;
      },
    ],
    [
      "a packet of a single payment",
      "call_session",
      (d) => {
        d["packet"] = packetOf({ ...ESCROW, sessionKey: null });
      },
    ],
    [
      "a packet of a session in which nothing was captured",
      "call_inclusion",
      (d) => {
        d["packet"] = packetOf();
      },
    ],
    [
      "a packet of fewer deliveries",
      "call_inclusion",
      (d) => {
        d["packet"] = packetOf(escrowAfter(5));
      },
    ],
    [
      "another session's packet",
      "call_order",
      (d) => {
        d["packet"] = packetOf({ ...escrowAfter(13, true), amount: 999_999n });
      },
    ],
    [
      "a member more",
      "call_form",
      (d) => {
        d["x"] = 1;
      },
    ],
    [
      "a member less",
      "call_form",
      (d) => {
        delete d["before"];
      },
    ],
    [
      "another version",
      "call_form",
      (d) => {
        d["version"] = "settlement-evidence-call-v2";
      },
    ],
  ])("%s", (_, check, change) => {
    const verdict = changed(text, change);
    expect(failedIn(verdict)).toContain(check);
    expect([verdict.verdict, verdict.call, verdict.amounts]).toEqual(["failed", null, null]);
  });

  test("any other character anywhere in it", () => {
    const documents = [text, evidenceFrom()(3, shownOf(3)), RELEASED(1, shownOf(1))];
    const character = fc.constantFrom("A", "B", "x", "z", "0", "1", "9", "+", "/");
    fc.assert(
      fc.property(fc.constantFrom(...documents), fc.nat(), character, (whole, at, put) => {
        const index = at % whole.length;
        if (whole[index] === put) return;
        const { verdict, checks } = verifyCall(
          whole.slice(0, index) + put + whole.slice(index + 1),
          TRUST,
        );
        // The packet's references are not signed; docs/verify-evidence.md says so.
        const from = whole.indexOf('"references"');
        const inReferences = index >= from && index < whole.indexOf('"signature"', from);
        if (!inReferences)
          expect([verdict, checks.some(({ outcome }) => outcome === "failed")]).toEqual([
            "failed",
            true,
          ]);
      }),
      runs(300),
    );
  });

  test.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["a packet", JSON.stringify(packetOf())],
  ])("%s is none", (_, document) => {
    expect(failedIn(verifyCall(document, TRUST))).toEqual(["call_form"]);
  });
});

test("an attestation stands in only if the escrow's attestor signed it for these terms", () => {
  const evidence = evidenceFrom();
  const text = evidence(3, shownOf(3));
  const attestation = Buffer.from(
    (JSON.parse(text) as { attestation_base64: string }).attestation_base64,
    "base64",
  );
  attestation[100] = (attestation[100] ?? 0) ^ 1;
  const verdict = changed(text, (document) => {
    document["attestation_base64"] = attestation.toString("base64");
  });
  expect(failedIn(verdict)).toEqual(["call_inclusion"]);
  const settledAlready = evidenceFrom(escrowAfter(5, true))(9, shownOf(9));
  expect(verifyCall(settledAlready, TRUST).call?.settlement).toBe("attested");
});

describe("an equivocation", () => {
  const { deliveries, total } = CALLS[4]?.after ?? NO_CALLS;
  const claim = { deliveries, total, timestamp: 1_772_366_505n, count: 5, isFinal: false };
  const lie = { ...claim, deliveries: ESCROW.taskHash };
  const judged = (one = claim, two = claim, packet = packetOf()): string => {
    const attestations = [attest(one), attest(two)] as const;
    return verifyEquivocation(equivocationText({ packet, attestations }), TRUST).verdict;
  };

  test("convicts who signed two histories, or went on after the end", () => {
    expect(judged(claim, lie)).toBe("verified");
    expect(judged(claim, { ...claim, total: total + 1n })).toBe("verified");
    expect(judged({ ...claim, count: 6, total: total - 1n }, claim)).toBe("verified");
    expect(judged({ ...claim, isFinal: true }, { ...claim, count: 6, total: total + 1n })).toBe(
      "verified",
    );
  });

  test("convicts nobody for what an honest attestor signs", () => {
    expect(judged()).toBe("failed");
    expect(judged(claim, { ...claim, timestamp: 1_772_366_506n })).toBe("failed");
    expect(judged(claim, { ...claim, isFinal: true })).toBe("failed");
    expect(judged(claim, { ...lie, count: 6, total: total + 1n })).toBe("failed");
  });

  test("needs both signatures for the terms of the packet, and a sound packet", () => {
    expect(judged(claim, lie, packetOf({ ...ESCROW, amount: 999_999n }))).toBe("failed");
    expect(judged(claim, lie, packetOf({ ...ESCROW, sessionKey: null }))).toBe("failed");
    expect(judged(claim, lie, {})).toBe("failed");
    const forged = { ...attest(lie), signature: attest(claim).signature };
    const text = equivocationText({ packet: packetOf(), attestations: [attest(claim), forged] });
    expect(verifyEquivocation(text, TRUST).verdict).toBe("failed");
    for (const document of ["", "{}", "[]"])
      expect(verifyEquivocation(document, TRUST).verdict).toBe("failed");
  });
});
