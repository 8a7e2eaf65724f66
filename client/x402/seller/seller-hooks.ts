import type { SettleContext, SettleResultContext } from "@x402/core/server";
import type { SchemeServerHooks } from "@x402/core/types";
import { BUYER_MEMBERS } from "../../../core/protocol/x402/payment-payload.ts";
import { SettlementError } from "../../settlement-error.ts";
import { lineOf } from "../payment-error.ts";
import { repeatSettlement } from "./repeat-settlement.ts";
import { exchangeIn, paymentOf, type SellerContext } from "./seller-context.ts";

/** What a claim outlasts the escrow by, so that clocks which differ free none too early. */
const SLACK_MS = 60_000;

/** @throws SettlementError for a payment that the handler must not run for. */
const requireOwn = async (seller: SellerContext, context: SettleContext): Promise<void> => {
  const { paymentPayload, transportContext } = context;
  const stranger = Object.keys(paymentPayload.payload).find((name) => !BUYER_MEMBERS.has(name));
  if (stranger !== undefined)
    throw new SettlementError(
      "invalid_payload",
      "The payload has a member that a buyer does not send.",
      "Make the payload by docs/x402-escrow-svm.md.",
    );
  const { isHead, request } = exchangeIn(transportContext);
  if (isHead)
    throw new SettlementError(
      "head_request",
      "The request is HEAD, which delivers nothing to pay for.",
      "Send GET.",
    );
  const { terms, payment } = paymentOf(seller, context);
  if (terms.request !== request)
    throw new SettlementError(
      "another_request",
      `The payment is for ${terms.request}, the request is ${request}.`,
      "Pay for this request.",
    );
  const untilMs = seller.clock.nowMs() + terms.ttlSeconds * 1000 + SLACK_MS;
  if (!(await seller.claims.take(payment.escrow, untilMs)))
    throw new SettlementError(
      "payment_in_use",
      `Another request with the payment ${payment.escrow} is under way.`,
      "Wait for its answer; a payment pays for one delivery.",
    );
};

/**
 * The scheme's hooks at a seller. x402 only warns of a hook that throws and goes on, so the one that guards the handler never does: whatever it finds, it
 * says as a refusal.
 */
export const sellerHooks = (seller: SellerContext): SchemeServerHooks => {
  const { claims } = seller;
  const drop = async (context: Pick<SettleContext, "paymentPayload">): Promise<void> =>
    claims.drop(paymentOf(seller, context).payment.escrow);
  return {
    onBeforeSettle: async (context) => {
      if (context.phase !== "before-handler") return undefined;
      try {
        await requireOwn(seller, context);
        return undefined;
      } catch (cause) {
        const { code, line } = lineOf(cause);
        return { abort: true, reason: code, message: line };
      }
    },
    onAfterSettle: async (context: SettleResultContext) => {
      if (context.phase !== "before-handler") await drop(context);
    },
    onSettleFailure: async (context) => {
      const settled = await repeatSettlement(seller, context);
      await drop(context);
      if (settled !== null) return { recovered: true, result: settled };
      const { error, requirements } = context;
      if (!(error instanceof SettlementError)) return undefined;
      const { payment } = paymentOf(seller, context);
      const { code, line } = lineOf(error);
      const result = {
        success: false,
        errorReason: code,
        errorMessage: line,
        payer: payment.agent,
        transaction: "",
        network: requirements.network,
        extra: { escrow: payment.escrow },
      };
      return { recovered: true, result };
    },
    onVerifiedPaymentCanceled: async (context) => {
      if (seller.wallet === null) await drop(context);
    },
  };
};
