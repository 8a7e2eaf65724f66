import { callEvidences } from "../../../client/sessions/evidence/call-evidences.ts";
import type { KeptCall } from "../../../client/sessions/store/session-store.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { type CallDelivery, callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent, type CallOrder, callOrder } from "../../../core/protocol/calls/call-order.ts";
import { callAttestationBytes } from "../../../core/protocol/calls/call-receipt.ts";
import { type CallVoucher, callVoucherBytes } from "../../../core/protocol/calls/call-voucher.ts";
import { NO_CALLS } from "../../../core/protocol/calls/session-tally.ts";
import { packetText } from "../../arbitraries/evidence.ts";
import { captured, settled } from "../../doubles/escrow-steps.ts";
import { attest, ESCROW, honestCalls, TERMS, vouch } from "../../doubles/session-sides.ts";

/** The evidence of a call, and what every verifier must say of it under trust.json. */
export type CallVector = {
  readonly name: string;
  /** What is special or wrong about it. */
  readonly why: string;
  /** The document's JSON text. */
  readonly call: string;
  /** The checks of the call that fail; those of its packet pass in every vector. */
  readonly failed_checks: ReadonlyArray<string>;
  /** Of a verified call, what vouches for its payment. */
  readonly settlement: "paid" | "attested" | null;
};

type Payload = { readonly [name: string]: Json };
type Document = { [name: string]: Json };

/** What one call of a made session has in place of what honest sides give it. */
type Dishonest = {
  readonly intent?: string;
  readonly payload?: (honest: Payload) => Payload;
  readonly delivery?: (honest: CallDelivery) => Partial<CallDelivery>;
  /** The voucher's claim before it is signed. */
  readonly voucher?: Partial<
    Pick<CallVoucher, "total" | "count" | "isClosing" | "limit" | "nonce">
  >;
  readonly terms?: Partial<typeof TERMS>;
};

const PRICES = Array.from({ length: 13 }, (_, i) => BigInt(50 + i));
const HONEST = honestCalls(PRICES.map((price) => ({ limit: 100n, price })));

/** Signed calls of a session, where one call may be dishonest: both trees and all signatures are over what it says. */
const madeCalls = (length: number, at = 0, dishonest: Dishonest = {}) => {
  let tally = NO_CALLS;
  return HONEST.slice(0, length).map((honest, index) => {
    const change = index + 1 === at ? dishonest : {};
    const { answered, voucher: ordered, receipt } = honest;
    const intent = change.intent ?? callIntent("GET", answered.url, new Uint8Array()) ?? "";
    const order: CallOrder = callOrder(intent, ordered.nonce, ordered.limit);
    const payload =
      change.payload?.(callPayload({ ...answered, taskHash: order.taskHash })) ??
      callPayload({ ...answered, taskHash: order.taskHash });
    const plain = { ...receipt.delivery, taskHash: order.taskHash, proofHash: proofHash(payload) };
    const delivery = { ...plain, ...change.delivery?.(plain) };
    const { total, count, isClosing, limit, nonce } = { ...ordered, ...change.voucher };
    const voucher = vouch(
      { orders: tally.ordersWith(order), total, count, isClosing, limit, nonce },
      { ...TERMS, ...change.terms },
    );
    tally = tally.after(order, delivery);
    const attestation = attest({
      deliveries: tally.deliveries,
      total: receipt.attestation.total,
      timestamp: delivery.deliveredAt,
      count: index + 1,
      isFinal: false,
    });
    const kept: KeptCall = {
      voucher: { ...voucher, count: index + 1 },
      receipt: { delivery, attestation },
      intent,
      status: answered.status,
    };
    return { kept, voucher, payload };
  });
};

/** The escrow after a capture of the first `count` honest calls, or a release of them. */
const escrowAfter = (count: number, isFinal = false): Escrow => {
  const call = HONEST[count - 1];
  if (call === undefined) return ESCROW;
  const { deliveries, total } = call.after;
  const timestamp = call.receipt.attestation.timestamp;
  const { signature } = attest({ deliveries, total, timestamp, count, isFinal });
  const attested = { proofHash: deliveries, total, timestamp, deliveries: count, signature };
  return isFinal
    ? settled(ESCROW, "release", timestamp + 5n, attested)
    : captured(ESCROW, attested);
};

const packetOf = (escrow: Escrow): Json =>
  JSON.parse(packetText(escrow, { slot: 7n, ledgerTime: 1_772_366_600n })) as Json;

type Made = {
  readonly escrow?: Escrow;
  readonly calls?: ReturnType<typeof madeCalls>;
  readonly hidden?: boolean;
  readonly payload?: boolean;
};

/** The evidence of call `count` of a session, by default of one in which nothing was captured. */
const evidenceOf = (count: number, made: Made = {}): string => {
  const { escrow = ESCROW, calls = madeCalls(13), hidden = false, payload = true } = made;
  const call = calls[count - 1];
  if (call === undefined) throw new RangeError(`no call ${count}`);
  const ledger = {
    deliveries: escrow.deliveries,
    proofHash: escrow.attestation?.proofHash ?? null,
  };
  const text = callEvidences(
    packetOf(escrow),
    ledger,
    calls.map(({ kept }) => kept),
  )(count, { payload: payload ? call.payload : null, isOrderShown: !hidden });
  if (hidden || call.voucher.count === count) return text;
  return edited(text, (document) => {
    document["voucher_base64"] = Buffer.from(callVoucherBytes(call.voucher)).toString("base64");
  });
};

const edited = (text: string, edit: (document: Document) => void): string => {
  const document = JSON.parse(text) as Document;
  edit(document);
  return JSON.stringify(document);
};

/** The base64 of a member with bytes put in its place at an offset. */
const patched = (value: Json | undefined, at: number, ...bytes: ReadonlyArray<number>): string => {
  const whole = Buffer.from(value as string, "base64");
  whole.set(bytes, at);
  return whole.toString("base64");
};

const part = (document: Document, name: string): Document => document[name] as Document;

const good = (
  name: string,
  why: string,
  settlement: "paid" | "attested",
  call: string,
): CallVector => ({ name, why, call, failed_checks: [], settlement });

const bad = (name: string, why: string, failed: string, call: string): CallVector => ({
  name,
  why,
  call,
  failed_checks: failed.split(" "),
  settlement: null,
});

const RELEASED = escrowAfter(13, true);

/** Evidence that every verifier must accept. The packets of a released session have 13 deliveries, an odd tree. */
const goodCalls = (): ReadonlyArray<CallVector> => [
  good("paid", "call 6 of a released session", "paid", evidenceOf(6, { escrow: RELEASED })),
  good("first", "call 1, which has none before it", "paid", evidenceOf(1, { escrow: RELEASED })),
  good(
    "last-of-odd",
    "call 13 of 13: its path is shorter",
    "paid",
    evidenceOf(13, { escrow: RELEASED }),
  ),
  good(
    "only",
    "call 1 of 1: its paths are empty",
    "paid",
    evidenceOf(1, { escrow: escrowAfter(1, true), calls: madeCalls(1) }),
  ),
  good(
    "captured",
    "call 3, after a capture of five calls, which only a node proves",
    "attested",
    evidenceOf(3, { escrow: escrowAfter(5) }),
  ),
  good(
    "after-captured",
    "call 6, after a capture of five calls",
    "attested",
    evidenceOf(6, { escrow: escrowAfter(5) }),
  ),
  good("before-capture", "call 3, before any capture", "attested", evidenceOf(3)),
  good(
    "own-attestation",
    "by the attestation of call 7 itself",
    "attested",
    evidenceOf(7, { calls: madeCalls(7) }),
  ),
  good(
    "hidden-order",
    "neither words nor nonce are shown",
    "paid",
    evidenceOf(4, { escrow: RELEASED, hidden: true, payload: false }),
  ),
  good(
    "hidden-words",
    "the payload without the words that it answers",
    "paid",
    evidenceOf(4, { escrow: RELEASED, hidden: true }),
  ),
  good(
    "no-payload",
    "only the payload's hash is shown",
    "paid",
    evidenceOf(4, { escrow: RELEASED, payload: false }),
  ),
  good(
    "nonce-of-no-words",
    "no words, and yet a nonce: nothing signs it",
    "paid",
    edited(evidenceOf(4, { escrow: RELEASED }), (d) => {
      d["intent"] = null;
    }),
  ),
  good(
    "free",
    "a call that cost nothing",
    "attested",
    evidenceOf(3, {
      calls: madeCalls(3, 3, {
        delivery: ({ price, totalAfter }) => ({ price: 0n, totalAfter: totalAfter - price }),
      }),
    }),
  ),
  good(
    "payload-of-neither",
    "another payload, which names neither task nor URL",
    "attested",
    evidenceOf(3, {
      calls: madeCalls(3, 3, { payload: () => ({ proof: "of another form" }) }),
    }),
  ),
  good(
    "payload-of-numbers",
    "a payload with a fraction and an exponent",
    "attested",
    evidenceOf(3, {
      calls: madeCalls(3, 3, {
        payload: (honest) => ({ ...honest, weight: 0.5, least: 1e-7, below: -3 }),
      }),
    }),
  ),
  good(
    "captured-and-attested",
    "an attestation beside an account that covers the call: the file's own counts",
    "attested",
    edited(evidenceOf(3, { calls: madeCalls(13) }), (d) => {
      d["packet"] = packetOf(escrowAfter(5));
    }),
  ),
];

const PAID = (): string => evidenceOf(6, { escrow: RELEASED });
const OTHER = (): Document => JSON.parse(evidenceOf(7, { escrow: RELEASED })) as Document;
const paid = (edit: (document: Document) => void): string => edited(PAID(), edit);
const attestedOnly = (edit: (document: Document) => void): string => edited(evidenceOf(6), edit);
const third = (dishonest: Dishonest): string =>
  evidenceOf(3, { calls: madeCalls(5, 3, dishonest) });

const formCalls = (): ReadonlyArray<CallVector> => [
  bad(
    "member-more",
    "a member more",
    "call_form",
    paid((d) => {
      d["x"] = 1;
    }),
  ),
  bad(
    "member-less",
    "a member less",
    "call_form",
    paid((d) => {
      delete d["before"];
    }),
  ),
  bad(
    "another-version",
    "another version",
    "call_form",
    paid((d) => {
      d["version"] = "settlement-evidence-call-v2";
    }),
  ),
  bad(
    "voucher-short",
    "a voucher of 175 bytes",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = Buffer.from(d["voucher_base64"] as string, "base64")
        .subarray(0, 175)
        .toString("base64");
    }),
  ),
  bad(
    "voucher-tag",
    "another tag of the voucher",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 0, 0x53);
    }),
  ),
  bad(
    "voucher-padding",
    "a voucher whose zero bytes are none",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 87, 1);
    }),
  ),
  bad(
    "voucher-closing-two",
    "a voucher whose closing is 2",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 84, 2);
    }),
  ),
  bad(
    "voucher-closing-with-limit",
    "a closing voucher with a limit",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 84, 1);
    }),
  ),
  bad(
    "path-no-row",
    "a path of 63 bytes",
    "call_form",
    paid((d) => {
      d["order_path_base64"] = Buffer.alloc(63).toString("base64");
    }),
  ),
  bad(
    "base64-unpadded",
    "base64 without its padding",
    "call_form",
    paid((d) => {
      d["voucher_base64"] = (d["voucher_base64"] as string).replace(/=+$/, "");
    }),
  ),
  bad(
    "attestation-padding",
    "an attestation whose zero bytes are none",
    "call_form",
    attestedOnly((d) => {
      d["attestation_base64"] = patched(d["attestation_base64"], 54, 1);
    }),
  ),
  bad(
    "payload-text",
    "a payload that is no object",
    "call_form",
    paid((d) => {
      d["payload"] = "quote 6";
    }),
  ),
  bad("intent-twice", "a member twice", "call_form", PAID().replace("{", '{"intent":null,')),
];

const orderCalls = (): ReadonlyArray<CallVector> => [
  bad(
    "single-payment",
    "the packet of a single payment",
    "call_session",
    paid((d) => {
      d["packet"] = packetOf({ ...ESCROW, sessionKey: null });
    }),
  ),
  bad(
    "other-words",
    "the words of another order",
    "call_order",
    paid((d) => {
      d["intent"] = OTHER()["intent"] ?? null;
      d["payload"] = null;
    }),
  ),
  bad(
    "other-nonce",
    "another nonce",
    "call_order",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 96, 0);
    }),
  ),
  bad(
    "other-limit",
    "a higher limit than was ordered",
    "call_order",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 88, 200);
    }),
  ),
  bad(
    "other-order-path",
    "another call's path of the order",
    "call_order",
    paid((d) => {
      d["order_path_base64"] = OTHER()["order_path_base64"] ?? null;
    }),
  ),
  bad(
    "other-escrow",
    "a voucher that names another escrow, which nothing signs",
    "call_order",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 8, 0, 0);
    }),
  ),
  bad(
    "voucher-unsigned",
    "a voucher with one bit of its signature changed",
    "call_order",
    paid((d) => {
      d["voucher_base64"] = patched(d["voucher_base64"], 130, 0, 0);
    }),
  ),
  bad(
    "voucher-of-other-terms",
    "a voucher for other terms",
    "call_order",
    third({ terms: { terms: ESCROW.taskHash } }),
  ),
  bad(
    "voucher-of-other-ledger",
    "a voucher for another ledger",
    "call_order",
    third({ terms: { domain: ESCROW.taskHash } }),
  ),
  bad(
    "voucher-closing",
    "a closing voucher orders no call",
    "call_order call_price",
    third({ voucher: { isClosing: true, limit: 0n, nonce: new Uint8Array(16) } }),
  ),
  bad(
    "voucher-of-no-call",
    "a voucher of count 0",
    "call_order call_inclusion call_price",
    third({ voucher: { count: 0 } }),
  ),
  bad("words-empty", "an order without words", "call_order call_payload", third({ intent: "" })),
  bad(
    "words-of-no-request",
    "words that are no request, with a line break",
    "call_order",
    third({
      intent: "GET https://api.example.com/quotes/3 paid\nand more",
    }),
  ),
  bad(
    "words-too-long",
    "an intent above 4096 bytes",
    "call_order call_payload",
    third({
      intent: `GET https://api.example.com/${"q".repeat(4096)} sha256:${"0".repeat(64)}`,
    }),
  ),
];

const treeCalls = (): ReadonlyArray<CallVector> => [
  bad(
    "other-path",
    "another call's path",
    "call_inclusion",
    paid((d) => {
      part(d, "delivered")["path_base64"] = part(OTHER(), "delivered")["path_base64"] ?? null;
    }),
  ),
  bad(
    "path-longer",
    "a path with a hash more",
    "call_inclusion",
    paid((d) => {
      const path = Buffer.from(part(d, "delivered")["path_base64"] as string, "base64");
      part(d, "delivered")["path_base64"] = Buffer.concat([path, Buffer.alloc(32)]).toString(
        "base64",
      );
    }),
  ),
  bad(
    "nothing-attested",
    "neither account nor file has an attestation",
    "call_inclusion",
    attestedOnly((d) => {
      d["attestation_base64"] = null;
    }),
  ),
  bad(
    "attestation-unsigned",
    "an attestation with another time than was signed",
    "call_inclusion",
    attestedOnly((d) => {
      d["attestation_base64"] = patched(d["attestation_base64"], 40, 0);
    }),
  ),
  bad(
    "attestation-of-other-terms",
    "an attestation for other terms",
    "call_inclusion",
    attestedOnly((d) => {
      const last =
        madeCalls(13).at(-1)?.kept.receipt.attestation ??
        attest({ deliveries: ESCROW.taskHash, total: 1n, timestamp: 0n, count: 1, isFinal: false });
      const other = attest(last, { ...TERMS, terms: ESCROW.taskHash });
      d["attestation_base64"] = Buffer.from(callAttestationBytes(other)).toString("base64");
    }),
  ),
  bad(
    "attestation-before-the-call",
    "the attestation of a call before it",
    "call_inclusion call_price",
    attestedOnly((d) => {
      d["attestation_base64"] =
        (JSON.parse(evidenceOf(5, { calls: madeCalls(5) })) as Document)["attestation_base64"] ??
        null;
    }),
  ),
  bad(
    "captured-before-the-call",
    "the account covers five calls, and this is the sixth",
    "call_inclusion call_price",
    attestedOnly((d) => {
      d["packet"] = packetOf(escrowAfter(5));
      d["attestation_base64"] = null;
    }),
  ),
];

const priceCalls = (): ReadonlyArray<CallVector> => [
  bad(
    "price-above-limit",
    "it cost more than its limit; the totals fit",
    "call_price",
    third({
      voucher: { total: 1000n },
      delivery: ({ totalAfter, price }) => ({ price: 101n, totalAfter: totalAfter - price + 101n }),
    }),
  ),
  bad(
    "total-above-voucher",
    "the total is above the voucher's",
    "call_price",
    third({ voucher: { total: 152n } }),
  ),
  bad(
    "total-above-attested",
    "the total is above the attested one",
    "call_price",
    evidenceOf(3, {
      calls: madeCalls(3, 3, {
        delivery: ({ price, totalAfter }) => ({ price: price + 1n, totalAfter: totalAfter + 1n }),
      }),
    }),
  ),
  bad(
    "no-leaf-before",
    "no leaf before call 6",
    "call_price",
    paid((d) => {
      d["before"] = null;
    }),
  ),
  bad(
    "leaf-before-the-first",
    "a leaf before call 1",
    "call_price",
    edited(evidenceOf(1, { escrow: RELEASED }), (d) => {
      d["before"] = OTHER()["before"] ?? null;
    }),
  ),
  bad(
    "other-leaf-before",
    "another call's leaf before",
    "call_price",
    paid((d) => {
      d["before"] = OTHER()["before"] ?? null;
    }),
  ),
  bad(
    "leaf-before-changed",
    "a leaf before with another total",
    "call_price",
    paid((d) => {
      part(d, "before")["leaf_base64"] = patched(part(d, "before")["leaf_base64"], 72, 9);
    }),
  ),
  bad(
    "totals-do-not-fit",
    "the totals differ by less than the price",
    "call_price",
    third({ delivery: ({ totalAfter }) => ({ totalAfter: totalAfter - 1n }) }),
  ),
  bad(
    "first-total-not-its-price",
    "the first call's total is not its price",
    "call_price",
    evidenceOf(1, {
      calls: madeCalls(3, 1, { delivery: () => ({ price: 49n }) }),
    }),
  ),
  bad(
    "sum-wraps",
    "the totals fit modulo 2^64 only",
    "call_price",
    evidenceOf(3, {
      calls: madeCalls(3, 2, { delivery: () => ({ totalAfter: 2n ** 64n - 1n }) }),
    }),
  ),
];

const payloadCalls = (): ReadonlyArray<CallVector> => [
  bad(
    "other-payload",
    "another call's payload",
    "call_payload",
    paid((d) => {
      d["payload"] = OTHER()["payload"] ?? null;
    }),
  ),
  bad(
    "payload-member-more",
    "a payload with a member more",
    "call_payload",
    paid((d) => {
      part(d, "payload")["x"] = 1;
    }),
  ),
  bad(
    "payload-of-other-task",
    "the attested payload names another task",
    "call_payload",
    third({ payload: (honest) => ({ ...honest, task_hash: ESCROW.taskHash }) }),
  ),
  bad(
    "payload-of-other-url",
    "the attested payload names another URL",
    "call_payload",
    third({
      payload: (honest) => ({ ...honest, request_url: "https://api.example.com/quotes/4" }),
    }),
  ),
  bad(
    "payload-task-null",
    "the attested payload has null in the task's place",
    "call_payload",
    third({ payload: (honest) => ({ ...honest, task_hash: null }) }),
  ),
];

/** Every case, those that verify first. */
export const callVectors = (): ReadonlyArray<CallVector> => [
  ...goodCalls(),
  ...formCalls(),
  ...orderCalls(),
  ...treeCalls(),
  ...priceCalls(),
  ...payloadCalls(),
];
