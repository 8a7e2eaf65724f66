import { bytesToHex } from "@noble/hashes/utils.js";
import { receiptHeader } from "../../../core/protocol/calls/call-receipt.ts";
import { tallyIn } from "../store/session-state.ts";
import { recorded } from "./attest-calls.ts";
import { deliveredStream } from "./deliver-stream.ts";
import { deliveryOf, MOST_KEPT_BYTES, type ReservedCall } from "./reserved-call.ts";
import type { CallHandler } from "./seller-context.ts";
import { requireSendable, responseOf } from "./sent-answer.ts";

/**
 * Runs the handler for a call that is reserved, and records what it answered before that leaves the seller; a stream as
 * it leaves. Null when another process was quicker.
 */
export const delivered = async (
  call: ReservedCall,
  handler: CallHandler,
): Promise<Response | null> => {
  const { context, stored, request, voucher } = call;
  const { escrow, count } = voucher;
  let charged: bigint | null = null;
  const charge = (units: bigint): void => {
    if (units < 0n || units > request.price)
      throw new RangeError(`${units} is no charge of 0 to ${request.price} base units`);
    charged = units;
  };
  const answer = await handler({ escrow, count, nonce: bytesToHex(voucher.nonce), charge });
  if ("stream" in answer) {
    requireSendable(answer);
    return deliveredStream(call, answer, () => charged);
  }
  const { status, body } = answer;
  if (status >= 300) {
    await context.store.drop(escrow);
    return responseOf({ ...answer, body: new Uint8Array(body) }, null);
  }
  requireSendable(answer);
  const kept = body.length > MOST_KEPT_BYTES ? null : answer;
  const price = charged ?? request.price;
  const staged = deliveryOf(call, { status, body, price, answer: kept });
  if ("attest" in context.attestor && !(await context.store.stage(staged))) return null;
  const receipt = await recorded(context, stored.session, tallyIn(stored), staged);
  return receipt && responseOf({ ...answer, body: new Uint8Array(body) }, receiptHeader(receipt));
};
