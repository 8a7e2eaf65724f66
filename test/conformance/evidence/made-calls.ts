import { callEvidences } from "../../../client/sessions/evidence/call-evidences.ts";
import type { KeptCall } from "../../../client/sessions/store/session-store.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { type CallDelivery, callPayload } from "../../../core/protocol/calls/call-delivery.ts";
import { callIntent, type CallOrder, callOrder } from "../../../core/protocol/calls/call-order.ts";
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
export type Document = { [name: string]: Json };

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
export const madeCalls = (length: number, at = 0, dishonest: Dishonest = {}) => {
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
export const escrowAfter = (count: number, isFinal = false): Escrow => {
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

export const packetOf = (escrow: Escrow): Json =>
  JSON.parse(packetText(escrow, { slot: 7n, ledgerTime: 1_772_366_600n })) as Json;

type Made = {
  readonly escrow?: Escrow;
  readonly calls?: ReturnType<typeof madeCalls>;
  readonly hidden?: boolean;
  readonly payload?: boolean;
};

/** The evidence of call `count` of a session, by default of one in which nothing was captured. */
export const evidenceOf = (count: number, made: Made = {}): string => {
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

export const edited = (text: string, edit: (document: Document) => void): string => {
  const document = JSON.parse(text) as Document;
  edit(document);
  return JSON.stringify(document);
};

/** The base64 of a member with bytes put in its place at an offset. */
export const patched = (
  value: Json | undefined,
  at: number,
  ...bytes: ReadonlyArray<number>
): string => {
  const whole = Buffer.from(value as string, "base64");
  whole.set(bytes, at);
  return whole.toString("base64");
};

export const part = (document: Document, name: string): Document => document[name] as Document;

export const good = (
  name: string,
  why: string,
  settlement: "paid" | "attested",
  call: string,
): CallVector => ({ name, why, call, failed_checks: [], settlement });

export const bad = (name: string, why: string, failed: string, call: string): CallVector => ({
  name,
  why,
  call,
  failed_checks: failed.split(" "),
  settlement: null,
});

export const RELEASED = escrowAfter(13, true);

/** Documents that are edited: of call 6, paid or attested, beside that of call 7; and call 3 with an attested lie. */
export const PAID = (): string => evidenceOf(6, { escrow: RELEASED });
export const OTHER = (): Document => JSON.parse(evidenceOf(7, { escrow: RELEASED })) as Document;
export const paid = (edit: (document: Document) => void): string => edited(PAID(), edit);
export const attestedOnly = (edit: (document: Document) => void): string =>
  edited(evidenceOf(6), edit);
export const third = (dishonest: Dishonest, payload = true): string =>
  evidenceOf(3, { calls: madeCalls(5, 3, dishonest), payload });
