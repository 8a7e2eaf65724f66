import { policyIn } from "../../client/pinned-policy.ts";
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
  readonly isFinal?: boolean;
  readonly isUnsigned?: boolean;
  readonly isOtherRoot?: boolean;
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A problem document, with the newest record where there is one. */
export const problemAnswer = (
  status: number,
  code: string,
  head: Uint8Array | null = null,
): WireAnswer => ({
  status,
  headers: {
    "content-type": "application/problem+json",
    ...(head === null ? {} : { [HEAD_HEADER]: encodeBase64(head) }),
  },
  body: utf8(JSON.stringify({ code, detail: "No.", status })),
});

/** A seller without a store, whose attestor signs whatever it is told. It knows what its agent signed. */
export const forger = ({ stand }: Battery) => {
  const policy = policyIn(stand.trust);
  const vouchers: Array<CallVoucher> = [];
  /** The record by which the agent goes on; null before the first call. */
  let newest: SessionHead | null = null;
  let given = 0n;

  const termsFor = async ({ escrow }: CallVoucher): Promise<SessionTerms> => {
    const terms = sessionTerms(await stand.escrow(escrow), policy);
    if (terms === null) throw new Error(`${escrow} is no session`);
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
  ): Promise<{ readonly head: SessionHead; readonly body: Uint8Array }> => {
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
    const totalAfter = before.total + price + (lie.totalOff ?? 0n);
    const delivery = { taskHash, proofHash, price, totalAfter, deliveredAt };
    const after = before.after(order, delivery);
    const claim: Omit<CallAttestation, "signature"> = {
      deliveries: lie.isOtherRoot === true ? after.orders : after.deliveries,
      total: after.total,
      count: after.count + (lie.countOff ?? 0),
      timestamp: deliveredAt + (lie.secondsOff ?? 0n),
      isFinal: lie.isFinal ?? false,
    };
    const signature =
      lie.isUnsigned === true
        ? new Uint8Array(64).fill(7)
        : ATTESTOR.sign(attestedCallsMessage(terms, claim));
    return {
      head: { voucher, receipt: { delivery, attestation: { ...claim, signature } }, before },
      body,
    };
  };

  return {
    voucherIn,
    record,
    newest: () => newest,
    /** The answer with a record's receipt. `isTaken` says whether the agent goes on by it. */
    receiptAnswer: (
      { head, body }: { readonly head: SessionHead; readonly body: Uint8Array },
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
    headBytes: (head: SessionHead): Uint8Array => sessionHeadBytes(head),
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
