import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { judgeDocuments } from "../../../../../adapters/http/pages/verify/judge-documents.ts";
import { judgedHtml } from "../../../../../adapters/http/pages/verify/verdict-html.ts";
import {
  givenBytes,
  kindOf,
  recognised,
  withDocument,
} from "../../../../../adapters/http/pages/verify/recognise.ts";
import { verifyEvidence } from "../../../../../core/protocol/verification/verify-evidence.ts";
import { parseTrustPolicy } from "../../../../../core/protocol/evidence/trust-policy.ts";
import {
  APART,
  BEYOND_THE_CALENDAR,
  CALL,
  given,
  LOG_TRUST,
  PACKET,
  PAYLOAD,
  recognisedAs,
  TRUST,
} from "./given-documents.ts";

const outcomesOf = (...texts: ReadonlyArray<string>) => {
  const [first] = judgeDocuments(recognisedAs(...texts)).judgements;
  return {
    verdict: first?.result.verdict,
    outcomes: Object.fromEntries(
      (first?.result.checks ?? []).map(({ name, outcome }) => [name, outcome]),
    ),
  };
};

describe("recognition", () => {
  test.each([
    ["packet", PACKET],
    ["packet", PACKET.replace("settlement-evidence-v2", "settlement-evidence-v9")],
    ["call", CALL],
    ["trust", TRUST],
    ["proof", APART.proof],
    ["payload", PAYLOAD],
    ["payload", "{}"],
    ["equivocation", '{"version":"settlement-evidence-equivocation-v1"}'],
    ["fraud", '{"version":"settlement-evidence-fraud-v1"}'],
    ["unknown", "[]"],
    ["unknown", "null"],
    ["unknown", ""],
    ["unknown", `\ufeff${PACKET}`],
  ] as const)("%s is told by its content", (kind, text) => {
    expect(kindOf(text)).toBe(kind);
  });

  test("any text has a kind, and an object is never unrecognised", () => {
    fc.assert(fc.property(fc.string(), (text) => typeof kindOf(text) === "string"));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        expect(kindOf(JSON.stringify(members))).not.toBe("unknown");
      }),
    );
  });

  test("bytes that are no UTF-8 are no document, and a byte order mark stays", () => {
    expect(givenBytes("a", new Uint8Array([0xff, 0xfe]))).toBeNull();
    expect(givenBytes("a", new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))?.text).toBe("\ufeff{}");
  });

  test("a document takes the place of one of its kind", () => {
    const one = withDocument(withDocument([], given("a", PACKET)), given("b", PACKET));
    expect(one.map(({ name }) => name)).toEqual(["b"]);
    const two = withDocument(withDocument(one, given("x", "?")), given("y", "!"));
    expect(two.map(({ name }) => name)).toEqual(["b", "x", "y"]);
  });
});

describe("verdicts", () => {
  test("are the same in any order of the documents", () => {
    const texts = [PACKET, TRUST, PAYLOAD, CALL];
    const inOrder = judgeDocuments(recognisedAs(...texts));
    expect(inOrder.judgements.map(({ of, result }) => [of, result.verdict])).toEqual([
      ["packet", "verified"],
      ["call", "verified"],
    ]);
    fc.assert(
      fc.property(fc.shuffledSubarray(texts, { minLength: 4 }), (shuffled) => {
        expect(judgeDocuments(recognisedAs(...shuffled))).toEqual(inOrder);
      }),
      { numRuns: 24 },
    );
  });

  test("a packet's is the command line's", () => {
    const trust = parseTrustPolicy(TRUST);
    if ("fault" in trust) throw new Error(trust.fault);
    const [judged] = judgeDocuments(recognisedAs(PACKET, TRUST)).judgements;
    expect(judged?.result).toEqual(verifyEvidence(PACKET, trust.value));
  });

  test("a packet without a trust document is untrusted, and one byte more fails", () => {
    expect(outcomesOf(PACKET).verdict).toBe("untrusted");
    const changed = PACKET.replace('"Fulfilled"', '"Refunded"');
    expect(outcomesOf(changed, TRUST)).toMatchObject({
      verdict: "failed",
      outcomes: { digest: "failed" },
    });
  });

  test("a payload is compared by its hash, its task and its template", () => {
    expect(outcomesOf(PACKET, TRUST, PAYLOAD)).toMatchObject({
      verdict: "verified",
      outcomes: { payload: "passed", payload_task: "passed", payload_template: "passed" },
    });
    const other = { ...JSON.parse(PAYLOAD), http_status: 99, task_hash: "0".repeat(64) };
    expect(outcomesOf(PACKET, TRUST, JSON.stringify(other))).toMatchObject({
      verdict: "failed",
      outcomes: { payload: "failed", payload_task: "failed", payload_template: "failed" },
    });
    const twice = PAYLOAD.replace("{", '{"task_hash":"x",');
    expect(outcomesOf(PACKET, TRUST, twice).verdict).toBe("failed");
  });

  test("a proof of the log stands in for the packet's own", () => {
    expect(outcomesOf(APART.packet, LOG_TRUST).outcomes["log_inclusion"]).toBe("unproven");
    expect(outcomesOf(APART.packet, LOG_TRUST, APART.proof)).toMatchObject({
      verdict: "verified",
      outcomes: { log_inclusion: "passed", account_on_ledger: "witnessed" },
    });
    expect(outcomesOf(APART.packet, LOG_TRUST, `${APART.proof}x`).verdict).toBe("failed");
  });

  test("a payload beside a call that shows only its hash is judged with it", () => {
    const { payload, ...call } = JSON.parse(CALL);
    const hidden = JSON.stringify({ ...call, payload: null });
    expect(outcomesOf(hidden, TRUST).outcomes["call_payload"]).toBe("unproven");
    expect(outcomesOf(hidden, TRUST, JSON.stringify(payload)).outcomes["call_payload"]).toBe(
      "passed",
    );
    expect(outcomesOf(hidden, TRUST, '{"other":1}').outcomes["call_payload"]).toBe("failed");
  });

  test("a call that its attestor dates beyond the calendar is shown by the number of its second", () => {
    const { text } = judgedHtml(judgeDocuments(recognisedAs(BEYOND_THE_CALENDAR, TRUST)));
    expect(text).toContain("seconds after 1970, by the word of the attestor");
  });

  test("evidence of a lie that shows nothing fails", () => {
    for (const version of ["settlement-evidence-equivocation-v1", "settlement-evidence-fraud-v1"])
      expect(outcomesOf(JSON.stringify({ version }), TRUST).verdict).toBe("failed");
  });

  test("an unreadable trust document stops everything, and says why", () => {
    const { hindrance, judgements } = judgeDocuments(recognisedAs(PACKET, '{"jwks":{}}'));
    expect(hindrance).toStartWith("The trust document cannot be read: ");
    expect(judgements).toEqual([]);
  });

  test("no text makes it throw", () => {
    const anyText = fc.oneof(
      fc
        .constantFrom(PACKET, CALL, TRUST, PAYLOAD, APART.proof)
        .chain((text) =>
          fc.nat(text.length - 1).map((at) => text.slice(0, at) + text.slice(at + 1)),
        ),
      fc.string(),
      fc.json(),
    );
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 4 }), (texts) => {
        judgeDocuments(texts.map((text) => recognised(given("any", text))));
      }),
    );
  });
});
