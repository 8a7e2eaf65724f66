import { type Escrow, isCancelled, isRefundable } from "../escrow/escrow.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** What the ledger did with an escrow's money, in the evidence packet's words. */
export type SettlementDecision = {
  readonly status: "released" | "refunded" | "pending";
  readonly reason:
    | "awaiting_delivery_proof"
    | "ttl_expired_refund_available"
    | "merchant_delivery_proof_verified"
    | "merchant_partial_delivery_proof_verified"
    | "ttl_expired_without_delivery_proof"
    | "merchant_cancelled";
};

/** The decision of an escrow's state. The ledger's time matters only while Pending. */
export const settlementDecision = (escrow: Escrow, ledgerTime: UnixSeconds): SettlementDecision => {
  switch (escrow.state) {
    case "Pending":
      return {
        status: "pending",
        reason: isRefundable(escrow, ledgerTime)
          ? "ttl_expired_refund_available"
          : "awaiting_delivery_proof",
      };
    case "Fulfilled":
      return { status: "released", reason: "merchant_delivery_proof_verified" };
    case "PartiallyFulfilled":
      return { status: "released", reason: "merchant_partial_delivery_proof_verified" };
    case "Refunded":
      return {
        status: "refunded",
        reason: isCancelled(escrow) ? "merchant_cancelled" : "ttl_expired_without_delivery_proof",
      };
  }
};
