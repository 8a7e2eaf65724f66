import type { SettleFailureContext } from "@x402/core/server";
import type { SettleResponse } from "@x402/core/types";
import { X402_VERSION } from "../../../core/protocol/x402/payment-payload.ts";
import { jsonOf, problemOf } from "../../service/requests.ts";
import { lineOf } from "../payment-error.ts";
import type { HeldPayment, SellerContext } from "./seller-context.ts";

/** The facilitator waits for a confirmation itself, so a few tries outlast a blockhash. */
const TRIES = 4;
/** A release that was sent and is not confirmed yet. */
const PENDING = "settlement_pending";

/** Whether a failed settlement may have landed, or may still: no answer came, or none that says how it ended. */
const isOpen = (error: unknown): boolean => {
  const reason =
    typeof error === "object" && error !== null && "errorReason" in error
      ? error.errorReason
      : undefined;
  return typeof reason !== "string" || reason === PENDING;
};

/** The answer that says how a settlement failed. */
export const failedSettlement = (
  { agent, escrow }: HeldPayment["payment"],
  network: SettleResponse["network"],
  cause: unknown,
): SettleResponse => {
  const { code, line } = lineOf(cause);
  return {
    success: false,
    errorReason: code,
    errorMessage: line,
    payer: agent,
    transaction: "",
    network,
    extra: { escrow },
  };
};

/**
 * What settling a payment with a signed release comes to, at the seller's own service: it is never done twice. Tried again while it is not confirmed. @throws
 * SettlementError when no answer comes.
 */
export const settleRelease = async (
  { merchant: { requests } }: SellerContext,
  { paymentPayload, requirements }: Pick<SettleFailureContext, "paymentPayload" | "requirements">,
  members: Readonly<Record<string, unknown>>,
): Promise<SettleResponse> => {
  const payload = { ...paymentPayload.payload, ...members };
  const body = {
    x402Version: X402_VERSION,
    paymentPayload: { ...paymentPayload, payload },
    paymentRequirements: requirements,
  };
  for (let tried = 1; ; tried++) {
    const answer = await requests.answer("/x402/settle", { body });
    if (answer.status !== 200) throw problemOf(answer);
    const result = jsonOf(answer) as SettleResponse;
    if (result.success || result.errorReason !== PENDING || tried === TRIES) return result;
  }
};

/**
 * Settles a release again of which nobody knows whether it lands. Once the attestation is out, the escrow can be released at any moment, so the buyer must have the
 * delivery for it. Null when there is no such release, and when it is refused or stays unknown. Never rejects.
 */
export const repeatSettlement = async (
  seller: SellerContext,
  context: SettleFailureContext,
): Promise<SettleResponse | null> => {
  const members = seller.releases.get(context.paymentPayload);
  if (context.phase !== "after-handler" || members === undefined || !isOpen(context.error))
    return null;
  try {
    const result = await settleRelease(seller, context, members);
    return result.success ? result : null;
  } catch {
    // The first failure is told.
    return null;
  }
};
