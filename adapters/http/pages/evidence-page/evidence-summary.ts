import { escapeHtml } from "../html-text.ts";
import type { AmountHtml } from "./amount-html.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";

/** `2026-09-01T12:01:35Z` as people read it, `2026-09-01 12:01:35 UTC`, as HTML. */
export const timeHtml = (time: string): string => {
  const text = escapeHtml(time);
  return `<time datetime="${text}">${text.replace("T", " ").replace("Z", " UTC")}</time>`;
};

/**
 * The packet in one or two sentences, as HTML: what the ledger did, and on whose statement. It never says that
 * something was delivered.
 */
export const evidenceSummary = ({ data }: EvidencePacketRecord, amountHtml: AmountHtml): string => {
  const { escrow, settlement_decision: decision, as_of: asOf } = data;
  const at = timeHtml(decision.settled_at ?? asOf?.ledger_time ?? "");
  const amount = amountHtml(escrow.amount_stroops);
  const word = "on a statement signed by the merchant's attestor";
  switch (decision.reason) {
    case "awaiting_delivery_proof":
      return `The ledger held ${amount} in custody at ${at}. No delivery proof had been presented, and the escrow had not expired.`;
    case "ttl_expired_refund_available":
      return `The ledger held ${amount} in custody at ${at}. The escrow had expired without a delivery proof; anyone may claim the refund for the agent.`;
    case "merchant_delivery_proof_verified":
      return `The ledger released the whole ${amount} to the merchant at ${at}, ${word}.`;
    case "merchant_partial_delivery_proof_verified":
      return `The ledger released ${amountHtml(escrow.released_stroops)} of ${amount} to the merchant at ${at}, ${word}, and returned ${amountHtml(escrow.refunded_stroops)} to the agent.`;
    case "ttl_expired_without_delivery_proof":
      return `The ledger returned the whole ${amount} to the agent at ${at}. The escrow had expired without a delivery proof.`;
    case "merchant_cancelled":
      return `The merchant gave the whole ${amount} back to the agent at ${at}, before the escrow expired.`;
  }
};
