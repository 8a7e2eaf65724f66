import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { callIntent, callOrder, orderLeaf } from "../../../../core/protocol/calls/call-order.ts";
import {
  callPayload,
  deliveryLeaf,
  readDeliveryLeaf,
} from "../../../../core/protocol/calls/call-delivery.ts";
import {
  callReceiptBytes,
  parseReceiptHeader,
  readCallReceipt,
  receiptHeader,
} from "../../../../core/protocol/calls/call-receipt.ts";
import {
  callVoucherBytes,
  parseVoucherHeader,
  readCallVoucher,
  voucherHeader,
} from "../../../../core/protocol/calls/call-voucher.ts";
import { NO_CALLS, SessionTally } from "../../../../core/protocol/calls/session-tally.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { compareWithTemplate } from "../../../../core/domain/evidence/delivery-payload.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";
import {
  anyAddress,
  anyHash32,
  anyU64,
  bytesOfLength,
} from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { honestCalls } from "../../../doubles/session-sides.ts";

const anyCount = fc.nat({ max: 0xffff_ffff });
const anyTime = fc.bigInt({ min: 0n, max: 253_402_300_799n });
const anyVoucher = fc.oneof(
  fc.record({
    escrow: anyAddress,
    orders: anyHash32,
    total: anyU64,
    count: anyCount,
    isClosing: fc.constant(false),
    limit: anyU64,
    nonce: bytesOfLength(16),
    signature: bytesOfLength(64),
  }),
  fc.record({
    escrow: anyAddress,
    orders: anyHash32,
    total: anyU64,
    count: anyCount,
    isClosing: fc.constant(true),
    limit: fc.constant(0n),
    nonce: fc.constant(new Uint8Array(16)),
    signature: bytesOfLength(64),
  }),
);
const anyDelivery = fc.record({
  taskHash: anyHash32,
  proofHash: anyHash32,
  price: anyU64,
  totalAfter: anyU64,
  deliveredAt: anyTime,
});
const anyReceipt = fc.record({
  delivery: anyDelivery,
  attestation: fc.record({
    deliveries: anyHash32,
    total: anyU64,
    timestamp: anyTime,
    count: anyCount,
    isFinal: fc.boolean(),
    signature: bytesOfLength(64),
  }),
});

describe("messages of a call", () => {
  test("a voucher is what it was before its header, in 236 characters", () => {
    fc.assert(
      fc.property(anyVoucher, (voucher) => {
        expect(parseVoucherHeader(voucherHeader(voucher))).toEqual(voucher);
        expect(voucherHeader(voucher)).toHaveLength(236);
      }),
      runs(100),
    );
  });

  test("a receipt is what it was before its header, in 288 characters", () => {
    fc.assert(
      fc.property(anyReceipt, (receipt) => {
        expect(parseReceiptHeader(receiptHeader(receipt))).toEqual(receipt);
        expect(receiptHeader(receipt)).toHaveLength(288);
      }),
      runs(100),
    );
  });

  test("bytes are read in one way: whatever is read is written with the same bytes", () => {
    const changed = fc.tuple(fc.nat({ max: 215 }), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(anyVoucher, anyReceipt, changed, (voucher, receipt, [at, mask]) => {
        for (const [bytes, again] of [
          [
            callVoucherBytes(voucher),
            (b: Uint8Array) => rewritten(readCallVoucher(b), callVoucherBytes),
          ],
          [
            callReceiptBytes(receipt),
            (b: Uint8Array) => rewritten(readCallReceipt(b), callReceiptBytes),
          ],
        ] as const) {
          const other = bytes.slice();
          other[at % other.length] = (other[at % other.length] ?? 0) ^ mask;
          expect(again(other)).toBeOneOf([undefined, other.toHex()]);
        }
      }),
      runs(200),
    );
  });

  test.each([
    ["nothing", ""],
    ["no base64", "!"],
    ["three bytes", "AAAA"],
    ["another tag", "a".repeat(236)],
    ["padding that is not due", `${"A".repeat(235)}=`],
  ])("%s is no voucher and no receipt", (_, text) => {
    expect([parseVoucherHeader(text), parseReceiptHeader(text)]).toEqual([undefined, undefined]);
  });

  test("leaves have the bytes of docs/protocol.md", () => {
    fc.assert(
      fc.property(anyDelivery, anyU64, (delivery, limit) => {
        const { taskHash, proofHash, price, totalAfter, deliveredAt } = delivery;
        const little = (value: bigint): string =>
          Array.from({ length: 8 }, (_, i) =>
            ((value >> BigInt(8 * i)) & 255n).toString(16).padStart(2, "0"),
          ).join("");
        expect(orderLeaf({ taskHash, limit }).toHex()).toBe(taskHash + little(limit));
        const leaf = deliveryLeaf(delivery);
        expect(leaf.toHex()).toBe(
          taskHash + proofHash + little(price) + little(totalAfter) + little(deliveredAt),
        );
        expect(readDeliveryLeaf(leaf)).toEqual(delivery);
      }),
      runs(100),
    );
    expect(() => readDeliveryLeaf(new Uint8Array(87))).toThrow("88");
  });
});

const rewritten = <A>(read: A | undefined, write: (value: A) => Uint8Array): string | undefined =>
  read && write(read).toHex();

describe("the order of a call", () => {
  const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  test("is made of method, URL and body", () => {
    const body = new TextEncoder().encode("abc");
    expect(callIntent("get", "https://a.example/x?y=1#z", new Uint8Array())).toBe(
      `GET https://a.example/x?y=1 sha256:${EMPTY}`,
    );
    expect(callIntent("POST", "http://a.example:8080/", body)).toBe(
      "POST http://a.example:8080/ sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  test.each([
    ["a relative URL", "GET", "/relative"],
    ["another scheme", "GET", "ftp://a.example/"],
    ["a space", "GET", "https://a.example/a b"],
    ["a letter beyond ASCII", "GET", "https://ä.example/"],
    ["a line break", "GET\n", "https://a.example/"],
    ["no method", "", "https://a.example/"],
    ["a URL of 4 kB", "GET", `https://a.example/${"x".repeat(4096)}`],
  ])("%s makes none", (_, method, url) => {
    expect(callIntent(method, url, new Uint8Array())).toBeUndefined();
  });

  test("two nonces, two limits and two bodies make other orders", () => {
    const [one, two] = [1, 2].map((byte) => new Uint8Array(16).fill(byte)) as [
      Uint8Array,
      Uint8Array,
    ];
    const intent = callIntent("GET", "https://a.example/", new Uint8Array()) ?? "";
    const other = callIntent("GET", "https://a.example/", one) ?? "";
    const leaves = [
      callOrder(intent, one, 1n),
      callOrder(intent, two, 1n),
      callOrder(intent, one, 2n),
      callOrder(other, one, 1n),
    ].map((order) => orderLeaf(order).toHex());
    expect(new Set(leaves).size).toBe(4);
  });
});

describe("the payload of a call", () => {
  test("fits its template", () => {
    const [call] = honestCalls([{ limit: 10n, price: 10n }]);
    const template = PROOF_TEMPLATES.find(({ id }) => id === "api-delivered-v1");
    if (call === undefined || template === undefined) throw new Error("no call");
    const results = compareWithTemplate(callPayload(call.answered), template);
    expect(results.filter(({ outcome }) => outcome !== "ok" && outcome !== "absent")).toEqual([]);
  });
});

describe("the tally of a session", () => {
  test("its roots are those of the whole trees (RFC 6962)", () => {
    const calls = honestCalls(
      Array.from({ length: 33 }, (_, i) => ({ limit: 20n, price: BigInt(i % 20) })),
    );
    for (const [at, { after }] of calls.entries()) {
      const until = calls.slice(0, at + 1);
      expect(after.orders as string).toBe(rootOver(until.map(({ order }) => orderLeaf(order))));
      expect(after.deliveries as string).toBe(
        rootOver(until.map(({ receipt }) => deliveryLeaf(receipt.delivery))),
      );
      expect(after.total).toBe(
        until.reduce((sum, { receipt }) => sum + receipt.delivery.price, 0n),
      );
      expect(after.count).toBe(at + 1);
    }
  });

  test("never changes", () => {
    const [first] = honestCalls([{ limit: 10n, price: 10n }]);
    if (first === undefined) throw new Error("no call");
    const roots = [NO_CALLS.count, NO_CALLS.orders, NO_CALLS.deliveries];
    NO_CALLS.ordersWith(first.order);
    NO_CALLS.after(first.order, first.receipt.delivery);
    expect([NO_CALLS.count, NO_CALLS.orders, NO_CALLS.deliveries]).toEqual(roots);
    expect(
      () => new SessionTally(0n, new TreeEdge(), new TreeEdge(1, [new Uint8Array(32)])),
    ).toThrow();
  });
});

const digest = (...parts: ReadonlyArray<Uint8Array>): Uint8Array =>
  new Uint8Array(createHash("sha256").update(Buffer.concat(parts)).digest());

/** The root over leaves, written from RFC 6962, section 2.1. */
const merkle = (leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = leaves;
  if (leaves.length === 1 && only !== undefined) return digest(Uint8Array.of(0), only);
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return digest(Uint8Array.of(1), merkle(leaves.slice(0, split)), merkle(leaves.slice(split)));
};

const rootOver = (leaves: ReadonlyArray<Uint8Array>): string => merkle(leaves).toHex();
