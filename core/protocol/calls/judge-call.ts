import { addressToBytes } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import { verifyEd25519 } from "../crypto/strict-ed25519.ts";
import type { CallOrder } from "./call-order.ts";
import { attestedCallsMessage, type CallAttestation, type CallReceipt } from "./call-receipt.ts";
import { type CallVoucher, vouchedMessage } from "./call-voucher.ts";
import type { SessionTally } from "./session-tally.ts";
import type { SessionTerms } from "./session-terms.ts";

/** What is wrong with a voucher or a receipt: a stable code, and one sentence. */
export type CallFault = { readonly code: CallFaultCode; readonly detail: string };

/** Why a seller takes no voucher, and why an agent takes no receipt. The list only grows. */
export type CallFaultCode =
  | "voucher_of_another_session"
  | "voucher_not_signed"
  | "budget_exceeded"
  | "another_total"
  | "another_order"
  | "call_delivered"
  | "agent_is_behind"
  | "seller_is_behind"
  | "receipt_not_signed"
  | "receipt_of_another_call"
  | "price_above_limit"
  | "another_payload";

const fault = (code: CallFaultCode, detail: string): { readonly fault: CallFault } => ({
  fault: { code, detail },
});

/** The newest call of a session and what it was ordered by; null before the first. */
export type NewestOrder = { readonly order: CallOrder; readonly nonce: Uint8Array } | null;

/** What a voucher asks of a seller. `again` is the newest call once more, after an answer that was lost. */
export type VoucherJudgement =
  | { readonly asks: "next" | "again" | "closing" }
  | { readonly fault: CallFault };

/** Whether the session key signed the voucher, by the rules of the ledger's Ed25519 program. */
export const isVoucherSigned = (session: SessionTerms, voucher: CallVoucher): boolean =>
  verifyEd25519(
    voucher.signature,
    vouchedMessage(session, voucher),
    addressToBytes(session.sessionKey),
  );

/** Whether the attestor signed, by the rules of the ledger's Ed25519 program. */
export const isAttestationSigned = (session: SessionTerms, attested: CallAttestation): boolean =>
  verifyEd25519(
    attested.signature,
    attestedCallsMessage(session, attested),
    addressToBytes(session.attestor),
  );

const closingJudgement = (tally: SessionTally, voucher: CallVoucher): VoucherJudgement => {
  const isNewest =
    voucher.count === tally.count &&
    voucher.total === tally.total &&
    voucher.orders === tally.orders;
  return isNewest
    ? { asks: "closing" }
    : fault(
        voucher.count > tally.count ? "seller_is_behind" : "agent_is_behind",
        `The closing voucher is for ${voucher.count} calls and ${voucher.total} units, the newest record for ${tally.count} and ${tally.total}.`,
      );
};

const nextJudgement = (
  { amount }: SessionTerms,
  tally: SessionTally,
  voucher: CallVoucher,
  order: CallOrder,
): VoucherJudgement => {
  if (voucher.total > amount)
    return fault("budget_exceeded", `${voucher.total} units are above the budget of ${amount}.`);
  if (voucher.total !== tally.total + order.limit)
    return fault(
      "another_total",
      `The voucher's total is ${voucher.total}; ${tally.total} were taken, and the call's limit is ${order.limit}.`,
    );
  return voucher.orders === tally.ordersWith(order)
    ? { asks: "next" }
    : fault("another_order", "The voucher's orders are not those so far and this request's.");
};

/**
 * What a voucher asks of a seller whose newest record is that of `tally` and `newest`, for the order that follows from
 * the request, or why it is refused. The signature is verified too. A seller takes one call at a time, so a voucher is
 * for the next call, for the newest once more, or closes. See docs/protocol.md, "Calls of a session".
 */
export const judgeVoucher = (
  session: SessionTerms,
  tally: SessionTally,
  newest: NewestOrder,
  voucher: CallVoucher,
  order: CallOrder | null,
): VoucherJudgement => {
  if (voucher.escrow !== session.escrow)
    return fault("voucher_of_another_session", "The voucher names another escrow.");
  if (!isVoucherSigned(session, voucher))
    return fault(
      "voucher_not_signed",
      "The voucher is not signed by the session key for these terms.",
    );
  if (voucher.isClosing) return closingJudgement(tally, voucher);
  if (order === null)
    return fault("another_order", "Only a closing voucher comes without an order.");
  if (voucher.count > tally.count + 1)
    return fault(
      "seller_is_behind",
      `The voucher is for call ${voucher.count}; the newest record here is of call ${tally.count}.`,
    );
  if (voucher.count === tally.count + 1) return nextJudgement(session, tally, voucher, order);
  if (voucher.count < tally.count || newest === null)
    return fault(
      "agent_is_behind",
      `The voucher is for call ${voucher.count}; the newest record is of call ${tally.count}.`,
    );
  const isSame =
    order.taskHash === newest.order.taskHash &&
    order.limit === newest.order.limit &&
    voucher.orders === tally.orders;
  return isSame
    ? { asks: "again" }
    : fault("call_delivered", `Call ${voucher.count} was delivered, for another order.`);
};

/**
 * Why an agent takes no receipt for a call, undefined for a good one. `tally` is before the call, and `payloadHash` is
 * that of what the agent itself received, null where no payload can name the receipt's time. The receipt must be exactly
 * the agent's own: count, total and root.
 */
export const receiptFault = (
  session: SessionTerms,
  tally: SessionTally,
  order: CallOrder,
  { delivery, attestation }: CallReceipt,
  payloadHash: Hash32 | null,
): CallFault | undefined => {
  const { price, totalAfter } = delivery;
  const { fault: reason } = ((): { readonly fault?: CallFault } => {
    if (delivery.taskHash !== order.taskHash)
      return fault("receipt_of_another_call", "The receipt's leaf is of another order.");
    if (price > order.limit)
      return fault("price_above_limit", `The price ${price} is above the limit ${order.limit}.`);
    if (totalAfter !== tally.total + price || attestation.total !== totalAfter)
      return fault(
        "another_total",
        `The receipt's total is ${attestation.total}; ${tally.total} were paid before, and the price is ${price}.`,
      );
    if (attestation.count !== tally.count + 1 || attestation.isFinal)
      return fault(
        "receipt_of_another_call",
        `The attestation is for ${attestation.count} deliveries, not ${tally.count + 1}.`,
      );
    if (attestation.timestamp !== delivery.deliveredAt)
      return fault("receipt_of_another_call", "Leaf and attestation are of different times.");
    if (attestation.deliveries !== tally.after(order, delivery).deliveries)
      return fault("receipt_of_another_call", "The attested root is not that of the deliveries.");
    if (delivery.proofHash !== payloadHash)
      return fault("another_payload", "What was received is not what was attested.");
    if (!isAttestationSigned(session, attestation))
      return fault("receipt_not_signed", "The attestor did not sign the receipt for these terms.");
    return {};
  })();
  return reason;
};
