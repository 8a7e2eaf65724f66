import type { SettleContext, SkipHandlerDirective } from "@x402/core/server";
import type { PaymentRequirements, SettleResponse } from "@x402/core/types";
import { type KeptAnswer, keptAnswer } from "./kept-answers.ts";
import { failedSettlement, settleRelease } from "./repeat-settlement.ts";
import { type HeldPayment, presentedPayment, type SellerContext } from "./seller-context.ts";
import { signedRelease } from "./seller-settlement.ts";

/** An answer that was paid for, and what its settlement comes to: it is given again only if that is a success. */
export type Replay = { readonly answer: KeptAnswer; readonly settled: SettleResponse };

type Presented = Pick<SettleContext, "paymentPayload" | "transportContext">;

/** Settles a kept answer: by its release, which may have landed long ago, else by a new one with the same claim. Never rejects. */
const settleKept = async (
  seller: SellerContext,
  held: HeldPayment,
  { paymentPayload }: Presented,
  { amount, delivered, release }: KeptAnswer,
): Promise<SettleResponse> => {
  const requirements: PaymentRequirements = { ...paymentPayload.accepted, amount };
  const settle = (signed: string) =>
    settleRelease(
      seller,
      { paymentPayload, requirements },
      { phase: "after-handler", release: signed },
    );
  let refused: SettleResponse | null = null;
  try {
    const first = await settle(release);
    if (first.success) return first;
    refused = first;
    return await settle(await signedRelease(seller, held, delivered, amount));
  } catch (cause) {
    return refused ?? failedSettlement(held.payment, requirements.network, cause);
  }
};

/**
 * The answer that a payment was attested for, settled; null when none is kept. The handler runs once for a payment, so an answer that cannot be settled is refused.
 * @throws SettlementError for a payment that is not this request's, and what the store throws.
 */
export const replayOf = async (
  seller: SellerContext,
  context: Presented,
): Promise<Replay | null> => {
  const held = presentedPayment(seller, context);
  const text = await seller.answers.find(held.payment.escrow);
  if (text === null) return null;
  const answer = keptAnswer(text);
  return { answer, settled: await settleKept(seller, held, context, answer) };
};

const textOf = (body: Uint8Array): string | null => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return null;
  }
};

const isJsonOf = (text: string): boolean => {
  try {
    return JSON.stringify(JSON.parse(text)) === text;
  } catch {
    return false;
  }
};

/**
 * How x402's middleware gives an answer again byte for byte; null when it cannot. It writes nothing but HTML, and JSON as `JSON.stringify` has it, with status 200 and
 * no headers of the handler's but the type.
 */
export const skippedHandler = ({
  status,
  headers,
  body,
}: KeptAnswer): SkipHandlerDirective | null => {
  const header = (name: string): string =>
    Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
  const contentType = header("content-type");
  const text = textOf(body);
  if (status !== 200 || text === null || header("content-encoding") !== "") return null;
  if (/^text\/html\b/i.test(contentType)) return { contentType, body: text };
  if (!/^application\/json\b/i.test(contentType) || !isJsonOf(text)) return null;
  // The middleware takes null, false, 0 and "" for no body.
  return { contentType, body: { toJSON: () => JSON.parse(text) as unknown } };
};
