import { callAttestationBytes } from "../../../core/protocol/calls/call-receipt.ts";
import { attest, ESCROW, TERMS } from "../../doubles/session-sides.ts";
import {
  attestedOnly,
  bad,
  type CallVector,
  type Document,
  edited,
  escrowAfter,
  evidenceOf,
  madeCalls,
  OTHER,
  packetOf,
  paid,
  part,
  patched,
  RELEASED,
  third,
} from "./made-calls.ts";

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

/** Calls that were not so ordered, not so delivered, or cost something else. */
export const rejectedCalls = (): ReadonlyArray<CallVector> => [
  ...orderCalls(),
  ...treeCalls(),
  ...priceCalls(),
];
