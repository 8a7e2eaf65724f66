import type { SettleContext, SettleResultContext } from "@x402/core/server";
import type { SchemeServerHooks } from "@x402/core/types";
import { SettlementError } from "../../settlement-error.ts";
import { lineOf } from "../payment-error.ts";
import { failedSettlement, repeatSettlement } from "./seller-settlement.ts";
import { type Replay, replayOf, skippedHandler } from "./replay.ts";
import { expiredMs, paymentOf, presentedPayment, type SellerContext } from "./seller-context.ts";

const inUse = (escrow: string): SettlementError =>
  new SettlementError(
    "payment_in_use",
    `Another request with the payment ${escrow} is under way.`,
    "Wait for its answer, or present the payment again; it pays for one delivery.",
  );

/** Takes the payment for the handler. @throws SettlementError for one that the handler must not run for. */
const requireOwn = async (seller: SellerContext, context: SettleContext): Promise<void> => {
  const { claims, answers } = seller;
  const held = presentedPayment(seller, context);
  const { escrow } = held.payment;
  if (!(await claims.take(escrow, expiredMs(held)))) throw inUse(escrow);
  // Another request may have ended with an answer since this one was looked at.
  const answer = await answers.find(escrow).catch(() => "unknown");
  if (answer === null) return;
  await claims.drop(escrow);
  throw inUse(escrow);
};

/** Why an answer is not given again, null when x402 gives it. */
const replayFault = (
  { answer, settled }: Replay,
  escrow: string,
): { readonly reason: string; readonly message: string } | null => {
  const { success, errorReason = "settlement_failed", errorMessage = errorReason } = settled;
  if (!success) return { reason: errorReason, message: errorMessage };
  if (skippedHandler(answer) !== null) return null;
  return {
    reason: "answer_not_given",
    message: `The answer that ${escrow} paid for is kept, and x402's middleware cannot write it. Have the seller ask answerAgain before that middleware.`,
  };
};

/**
 * The scheme's hooks at a seller. x402 only warns of a hook that throws and goes on, so the hook that guards the
 * handler never throws. It returns every failure as a refusal.
 */
export const sellerHooks = (seller: SellerContext): SchemeServerHooks => {
  const { claims } = seller;
  const drop = async (context: Pick<SettleContext, "paymentPayload">): Promise<void> =>
    claims.drop(paymentOf(seller, context).payment.escrow);
  return {
    onBeforeVerify: async (context) => {
      try {
        const replay = await replayOf(seller, context);
        if (replay === null) return undefined;
        seller.replays.set(context.paymentPayload, replay);
        return { skip: true, result: { isValid: true } };
      } catch {
        // A failure before the handler runs.
        return undefined;
      }
    },
    onAfterVerify: ({ paymentPayload }) => {
      const replay = seller.replays.get(paymentPayload);
      const response = replay?.settled.success === true ? skippedHandler(replay.answer) : null;
      return Promise.resolve(response === null ? undefined : { skipHandler: true, response });
    },
    onBeforeSettle: async (context) => {
      const replay = seller.replays.get(context.paymentPayload);
      if (replay !== undefined) {
        const fault = replayFault(replay, paymentOf(seller, context).payment.escrow);
        if (fault === null) return { skip: true, result: replay.settled };
        return { abort: true, ...fault };
      }
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
      if (context.phase === "before-handler" || seller.replays.has(context.paymentPayload)) return;
      await drop(context);
    },
    onSettleFailure: async (context) => {
      const settled = await repeatSettlement(seller, context);
      await drop(context);
      if (settled !== null) return { recovered: true, result: settled };
      const { error, requirements } = context;
      if (!(error instanceof SettlementError)) return undefined;
      const { payment } = paymentOf(seller, context);
      return { recovered: true, result: failedSettlement(payment, requirements.network, error) };
    },
    onVerifiedPaymentCanceled: async (context) => {
      if (seller.wallet === null) await drop(context);
    },
  };
};
