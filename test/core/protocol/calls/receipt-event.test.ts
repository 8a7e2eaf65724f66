import { describe, expect, test } from "bun:test";
import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { receiptHeader } from "../../../../core/protocol/calls/call-receipt.ts";
import {
  RECEIPT_EVENT_LENGTH,
  receiptEvent,
  ReceiptSplitter,
} from "../../../../core/protocol/calls/receipt-event.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { headOf } from "../../../doubles/kept-calls.ts";

const { receipt } = headOf(1);
const EVENT = receiptEvent(receipt);
const utf8 = new TextEncoder();

/** What comes of a stream that arrives in pieces of these lengths. */
const split = (stream: Uint8Array, lengths: ReadonlyArray<number>) => {
  const splitter = new ReceiptSplitter();
  const given: Array<Uint8Array> = [];
  let at = 0;
  for (const length of [...lengths, stream.length]) {
    given.push(splitter.take(stream.subarray(at, at + length)));
    at += length;
  }
  return { own: concatBytes(...given), receipt: splitter.end() };
};

/** Bytes that are like a receipt event here and there. */
const BODY = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.nat(EVENT.length).map((length) => EVENT.slice(0, length)),
      fc
        .constantFrom("data: x\n\n", "event: settlement-receipt\n\n", "event: ")
        .map((text) => utf8.encode(text)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => concatBytes(...parts));
const LENGTHS = fc.array(fc.nat(400), { maxLength: 8 });

describe("the receipt at a stream's end", () => {
  test("has the bytes that docs/sessions.md says", () => {
    expect(EVENT.length).toBe(RECEIPT_EVENT_LENGTH);
    expect(RECEIPT_EVENT_LENGTH).toBe(322);
    expect(new TextDecoder().decode(EVENT)).toBe(
      `event: settlement-receipt\ndata: ${receiptHeader(receipt)}\n\n`,
    );
  });

  test("is told from whatever comes before it, in whatever pieces", () =>
    fc.assert(
      fc.property(BODY, LENGTHS, (body, lengths) => {
        const { own, receipt: value } = split(concatBytes(body, EVENT), lengths);
        expect(own).toEqual(body);
        expect(value).toBe(receiptHeader(receipt));
      }),
      runs(300),
    ));

  test("is missing wherever it is cut off or changed, and nothing that is not the stream's is given", () =>
    fc.assert(
      fc.property(BODY, LENGTHS, fc.nat(RECEIPT_EVENT_LENGTH - 1), (body, lengths, at) => {
        const stream = concatBytes(body, utf8.encode("data: x\n\n"), EVENT.slice(0, at));
        const { own, receipt: value } = split(stream, lengths);
        expect(value).toBeNull();
        expect(own).toEqual(stream.slice(0, own.length));
        const changed = EVENT.slice();
        changed[at] = (changed[at] ?? 0) ^ 0x80;
        expect(split(changed, lengths).receipt).toBeNull();
      }),
      runs(200),
    ));

  test("holds back an event no longer than it takes to know it", () => {
    const splitter = new ReceiptSplitter();
    for (const text of ["data: one\n\n", "event: tick\ndata: two\n\n"])
      expect(new TextDecoder().decode(splitter.take(utf8.encode(text)))).toBe(text);
  });
});
