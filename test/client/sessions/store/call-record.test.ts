import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  callAfter,
  callRecordBytes,
  readCallRecord,
  requireFollows,
  tallyAfter,
} from "../../../../client/sessions/store/call-record.ts";
import {
  answerBytes,
  readAnswer,
  readSession,
  readState,
  sessionText,
  stateBytes,
} from "../../../../client/sessions/store/kept-bytes.ts";
import { packedNumber, PackedReader } from "../../../../client/sessions/store/packed-bytes.ts";
import { newSession } from "../../../../client/sessions/store/session-state.ts";
import type { KeptCall } from "../../../../client/sessions/store/session-store.ts";
import { NO_CALLS } from "../../../../core/protocol/calls/session-tally.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  answerOf,
  closingOf,
  finalOf,
  headOf,
  keptCall,
  stagedCall,
} from "../../../doubles/kept-calls.ts";
import { honestCall, honestCalls, KEPT, TERMS } from "../../../doubles/session-sides.ts";

const NO_BODY = new Bun.CryptoHasher("sha256").digest("hex");

const PLANNED = fc
  .record({ limit: fc.bigInt({ min: 0n, max: 90_000n }), isFree: fc.boolean() })
  .map(({ limit, isFree }) => ({ limit, price: isFree ? 0n : limit }));

describe("the record of a call", () => {
  test("gives back every call of any session, from what the calls before it say", () =>
    fc.assert(
      fc.property(fc.array(PLANNED, { minLength: 1, maxLength: 9 }), (plan) => {
        let tally = NO_CALLS;
        for (const { voucher, receipt, intent, after } of honestCalls(plan)) {
          const kept: KeptCall = { voucher, receipt, intent, status: 200 };
          requireFollows(tally, kept);
          const parts = readCallRecord(callRecordBytes(kept));
          const read = callAfter(tally, TERMS.escrow, ...parts);
          expect(read.call).toEqual(kept);
          tally = tallyAfter(tally, ...parts);
          expect(tally.edges).toEqual(after.edges);
          expect(tally.total).toBe(after.total);
        }
      }),
      runs(30),
    ));

  test("keeps any intent, whatever its end looks like", () =>
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "grapheme" }),
          fc.string().map((text) => `${text} sha256:${"0a".repeat(32)}`),
          fc.string().map((text) => `${text} sha256:${NO_BODY}`),
          fc.string().map((text) => `${text} sha256:${"0A".repeat(32)}`),
        ),
        (intent) => {
          const kept = { ...keptCall(1), intent };
          expect(readCallRecord(callRecordBytes(kept))[0].intent).toBe(intent);
        },
      ),
      runs(100),
    ));

  test("has at most 300 bytes at an intent of 90 characters, and fewer by what its end says", () => {
    const { voucher, receipt } = honestCall(NO_CALLS, { limit: 10_000n, price: 10_000n });
    const lengthOf = (intent: string): number => {
      expect(intent.length).toBe(90);
      return callRecordBytes({ voucher, receipt, intent, status: 200 }).length;
    };
    expect(lengthOf("x".repeat(90))).toBeLessThan(300);
    expect(lengthOf(`PUT https://a.io/q sha256:${"ab".repeat(32)}`)).toBeLessThan(240);
    expect(lengthOf(`GET https://a.io/q sha256:${NO_BODY}`)).toBeLessThan(210);
  });

  test.each<[string, KeptCall]>([
    ["another number", keptCall(2)],
    ["another total", { ...keptCall(1), voucher: { ...keptCall(1).voucher, total: 16n } }],
    ["another root", { ...keptCall(1), voucher: { ...keptCall(1).voucher, orders: TERMS.terms } }],
    ["another intent", { ...keptCall(1), intent: "GET https://api.example.com/" }],
    ["a closing", { ...keptCall(1), voucher: { ...keptCall(1).voucher, isClosing: true } }],
    ["another receipt", { ...keptCall(1), receipt: keptCall(2).receipt }],
    [
      "another time",
      {
        ...keptCall(1),
        receipt: {
          ...keptCall(1).receipt,
          attestation: { ...keptCall(1).receipt.attestation, timestamp: 1n },
        },
      },
    ],
    [
      "a final attestation",
      {
        ...keptCall(1),
        receipt: {
          ...keptCall(1).receipt,
          attestation: { ...keptCall(1).receipt.attestation, isFinal: true },
        },
      },
    ],
  ])("is not made of a call with %s, which it would change", (_, call) => {
    expect(() => requireFollows(NO_CALLS, call)).toThrow(RangeError);
  });

  test("is refused when it is cut off anywhere or longer", () => {
    const bytes = callRecordBytes(keptCall(2));
    for (let length = 0; length < bytes.length; length++)
      expect(() => readCallRecord(bytes.subarray(0, length))).toThrow(RangeError);
    expect(() => readCallRecord(new Uint8Array([...bytes, 0]))).toThrow(RangeError);
  });
});

describe("packed values", () => {
  test("any number of 64 bits is read as it was written", () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const reader = new PackedReader(packedNumber(value));
        expect(reader.u64()).toBe(value);
        reader.done();
      }),
      runs(200),
    ));

  test("what is no number of 64 bits is refused", () => {
    expect(() => new PackedReader(new Uint8Array(11).fill(0x80)).u64()).toThrow(RangeError);
    expect(() => new PackedReader(packedNumber(2n ** 60n)).number()).toThrow(RangeError);
  });
});

describe("what is kept of a session beside its calls", () => {
  test("is read as it was written", () => {
    expect(readSession(sessionText(KEPT))).toEqual(KEPT);
    expect(readAnswer(answerBytes(answerOf(2)))).toEqual(answerOf(2));
    const fresh = newSession(KEPT);
    expect(readState(stateBytes(fresh))).toEqual(fresh);
    const whole = {
      session: KEPT,
      newest: headOf(3),
      closing: closingOf(3),
      final: finalOf(3, 1n),
      staged: stagedCall(4),
      answer: answerOf(3),
      isEnded: true,
    };
    const read = readState(stateBytes(whole));
    expect({ ...read, newest: read.newest?.before.edges }).toEqual({
      ...whole,
      newest: headOf(3).before.edges,
    } as never);
  });

  test("a newest record that is not signed by both is refused", () => {
    const head = headOf(3);
    const signature = head.voucher.signature.map((byte, at) => (at === 5 ? byte ^ 1 : byte));
    const changed = { ...head, voucher: { ...head.voucher, signature } };
    expect(() => readState(stateBytes({ ...newSession(KEPT), newest: changed }))).toThrow(
      RangeError,
    );
  });
});
