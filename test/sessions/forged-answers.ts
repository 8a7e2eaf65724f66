import { policyIn } from "../../client/pinned-policy.ts";
import type { Address } from "../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { callProofHash } from "../../core/protocol/calls/call-delivery.ts";
import { callIntent, callOrder } from "../../core/protocol/calls/call-order.ts";
import {
  attestedCallsMessage,
  type CallAttestation,
  callReceiptBytes,
  RECEIPT_HEADER,
} from "../../core/protocol/calls/call-receipt.ts";
import {
  type CallVoucher,
  parseVoucherHeader,
  VOUCHER_HEADER,
} from "../../core/protocol/calls/call-voucher.ts";
import {
  HEAD_HEADER,
  orderOf,
  parseSessionHead,
  type SessionHead,
  sessionHeadBytes,
  tallyOf,
} from "../../core/protocol/calls/session-head.ts";
import { NO_CALLS } from "../../core/protocol/calls/session-tally.ts";
import { type SessionTerms, sessionTerms } from "../../core/protocol/calls/session-terms.ts";
import { ATTESTOR, type Battery } from "./open-case.ts";
import type { WireAnswer, WireRequest } from "./seller-proxy.ts";

/** What a hostile seller changes in a record before its attestor signs it. */
export type Lie = {
  readonly priceOff?: bigint;
  readonly totalOff?: bigint;
  readonly countOff?: number;
  readonly secondsOff?: bigint;
  /** Added to the time of the delivery and of its attestation. */
  readonly deliveredOff?: bigint;
  readonly isFinal?: boolean;
  readonly isUnsigned?: boolean;
  readonly isOtherRoot?: boolean;
  /** The attestation is one of another session. */
  readonly isOtherSession?: boolean;
};

/** A record, and the body of the answer that it attests. */
export type Recorded = { readonly head: SessionHead; readonly body: Uint8Array };

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A problem document, with the newest record where there is one. */
export const problemAnswer = (
  status: number,
  code: string,
  head: SessionHead | Uint8Array | null = null,
): WireAnswer => ({
  status,
  headers: {
    "content-type": "application/problem+json",
    ...(head === null
      ? {}
      : { [HEAD_HEADER]: encodeBase64("voucher" in head ? sessionHeadBytes(head) : head) }),
  },
  body: utf8(JSON.stringify({ code, detail: "No.", status })),
});

/**
 * A seller without a store, whose attestor signs whatever it is told. It knows what its agent signed. Forgers of one
 * session can share its `seen` terms.
 */
export const forger = ({ stand }: Battery, seen = new Map<Address, SessionTerms>()) => {
  const policy = policyIn(stand.trust);
  const vouchers: Array<CallVoucher> = [];
  /** The record by which the agent goes on; null before the first call. */
  let newest: SessionHead | null = null;
  let given = 0n;

  const termsFor = async ({ escrow }: CallVoucher): Promise<SessionTerms> => {
    const terms = seen.get(escrow) ?? sessionTerms(await stand.escrow(escrow), policy);
    if (terms === null) throw new Error(`${escrow} is no session`);
    seen.set(escrow, terms);
    return terms;
  };

  /** The voucher of a request, remembered. */
  const voucherIn = ({ headers }: WireRequest): CallVoucher | null => {
    const voucher = parseVoucherHeader(headers[VOUCHER_HEADER] ?? "") ?? null;
    if (voucher !== null) vouchers.push(voucher);
    return voucher;
  };

  /** A record of the call that a voucher orders, true but for the lie. */
  const record = async (
    origin: string,
    { method, target, headers }: WireRequest,
    voucher: CallVoucher,
    lie: Lie = {},
  ): Promise<Recorded> => {
    // The agent goes on from what it shows, or from the record that it took.
    const shown = parseSessionHead(decodeBase64(headers[HEAD_HEADER] ?? "") ?? new Uint8Array());
    const known = shown ?? newest;
    const before = known === null ? NO_CALLS : tallyOf(known);
    const terms = await termsFor(voucher);
    const url = origin + target;
    const body = utf8(`quote ${target}`);
    const order = callOrder(
      callIntent(method, url, new Uint8Array()) ?? "",
      voucher.nonce,
      voucher.limit,
    );
    const deliveredAt = BigInt(Math.floor(Date.now() / 1000));
    const { taskHash } = order;
    const proofHash = callProofHash({
      taskHash,
      network: policy.genesisHash,
      url,
      status: 200,
      body,
      deliveredAt,
    });
    const price = voucher.limit + (lie.priceOff ?? 0n);
    const totalAfter = BigInt.asUintN(64, before.total + price + (lie.totalOff ?? 0n));
    const at = deliveredAt + (lie.deliveredOff ?? 0n);
    const delivery = { taskHash, proofHash, price, totalAfter, deliveredAt: at };
    const after = before.after(order, delivery);
    const claim: Omit<CallAttestation, "signature"> = {
      deliveries: lie.isOtherRoot === true ? after.orders : after.deliveries,
      total: after.total,
      count: after.count + (lie.countOff ?? 0),
      timestamp: at + (lie.secondsOff ?? 0n),
      isFinal: lie.isFinal ?? false,
    };
    const signed = lie.isOtherSession === true ? { ...terms, terms: terms.domain } : terms;
    const signature =
      lie.isUnsigned === true
        ? new Uint8Array(64).fill(7)
        : ATTESTOR.sign(attestedCallsMessage(signed, claim));
    return {
      head: { voucher, receipt: { delivery, attestation: { ...claim, signature } }, before },
      body,
    };
  };

  /** Another record of a call that has one: the same, delivered a second later. */
  const secondRecord = async ({ voucher, receipt, before }: SessionHead): Promise<SessionHead> => {
    const deliveredAt = receipt.delivery.deliveredAt + 1n;
    const delivery = { ...receipt.delivery, deliveredAt };
    const { deliveries, total, count } = before.after(orderOf({ voucher, receipt }), delivery);
    const claim = { deliveries, total, count, timestamp: deliveredAt, isFinal: false };
    const signature = ATTESTOR.sign(attestedCallsMessage(await termsFor(voucher), claim));
    return { voucher, receipt: { delivery, attestation: { ...claim, signature } }, before };
  };

  return {
    voucherIn,
    record,
    secondRecord,
    newest: () => newest,
    /** The answer with a record's receipt. `isTaken` says whether the agent goes on by it. */
    receiptAnswer: (
      { head, body }: Recorded,
      isTaken: boolean,
      spoil: (receipt: Uint8Array) => Uint8Array = (receipt) => receipt,
    ): WireAnswer => {
      if (isTaken) {
        newest = head;
        given += head.receipt.delivery.price;
      }
      return {
        status: 200,
        headers: {
          "content-type": "text/plain",
          [RECEIPT_HEADER]: encodeBase64(spoil(callReceiptBytes(head.receipt))),
        },
        body,
      };
    },
    /** A record that the agent may take over, though it has no answer for it. */
    take: (head: SessionHead): void => {
      newest = head;
    },
    /** What a hostile attestor could take beyond the answers that it gave, base units. */
    takeable: (): bigint =>
      vouchers.reduce((most, { total }) => (total > most ? total : most), 0n) - given,
  };
};

export type Forger = ReturnType<typeof forger>;
