import { ESCROW } from "../../doubles/session-sides.ts";
import {
  attestedOnly,
  bad,
  type CallVector,
  edited,
  escrowAfter,
  evidenceOf,
  good,
  madeCalls,
  OTHER,
  packetOf,
  PAID,
  paid,
  part,
  patched,
  RELEASED,
  third,
} from "./made-calls.ts";
import { rejectedCalls } from "./rejected-calls.ts";

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
  good(
    "beyond-the-calendar",
    "call 3, which the attestor dates after the year 9999",
    "attested",
    third({ delivery: () => ({ deliveredAt: 2n ** 62n }) }, false),
  ),
];

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
  ...rejectedCalls(),
  ...payloadCalls(),
];
