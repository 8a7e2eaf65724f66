import type { Hash32 } from "../../../core/domain/hash32.ts";
import { callProofHash } from "../../../core/protocol/calls/call-delivery.ts";
import type { CallOrder } from "../../../core/protocol/calls/call-order.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { tallyIn } from "../store/session-state.ts";
import type { SentAnswer, StagedCall, StoredSession } from "../store/session-store.ts";
import { nowIn } from "./attest-calls.ts";
import type { CallRequest, SellerContext } from "./seller-context.ts";

/** The longest body that is kept to be given again, bytes. A longer answer is delivered once. */
export const MOST_KEPT_BYTES = 1_048_576;

/** A call that is reserved, and what it is answered by. */
export type ReservedCall = {
  readonly context: SellerContext;
  readonly stored: StoredSession;
  readonly request: CallRequest;
  readonly voucher: CallVoucher;
  readonly order: CallOrder;
  readonly intent: string;
};

/** What was delivered for a call. */
type Delivered = {
  readonly status: number;
  /** The body, or the SHA-256 of it. */
  readonly body: Uint8Array | Hash32;
  /** Base units. */
  readonly price: bigint;
  /** What is kept to be given again, null for nothing. */
  readonly answer: SentAnswer | null;
};

/** The call with its delivery, as it is before its attestation. */
export const deliveryOf = (
  { context, stored, request, voucher, order: { taskHash }, intent }: ReservedCall,
  { status, body, price, answer }: Delivered,
): StagedCall => {
  const { session } = stored;
  const deliveredAt = nowIn(context, session);
  const url = request.url.replace(/#.*$/s, "");
  const { network } = session;
  const delivery = {
    taskHash,
    proofHash: callProofHash({ taskHash, network, url, status, body, deliveredAt }),
    price,
    totalAfter: tallyIn(stored).total + price,
    deliveredAt,
  };
  return { voucher, delivery, intent, status, answer };
};
