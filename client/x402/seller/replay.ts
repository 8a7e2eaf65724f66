import type { HTTPAdapter, SettleContext, SkipHandlerDirective } from "@x402/core/server";
import type {
  PaymentPayload,
  PaymentRequirements,
  SchemeNetworkServer,
  SettleResponse,
} from "@x402/core/types";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type KeptAnswer, keptAnswer } from "./kept-answers.ts";
import { failedSettlement, settleRelease, signedRelease } from "./seller-settlement.ts";
import { type HeldPayment, presentedPayment, type SellerContext } from "./seller-context.ts";

/** A kept answer and the outcome of its settlement. The answer is given again only when that was a success. */
export type Replay = { readonly answer: KeptAnswer; readonly settled: SettleResponse };

type Presented = Pick<SettleContext, "paymentPayload" | "transportContext">;

/**
 * Settles a kept answer with its signed release, which may have landed long ago. If that is refused, with a new release
 * of the same claim, alone. Never rejects.
 */
const settleKept = async (
  seller: SellerContext,
  held: HeldPayment,
  { paymentPayload }: Presented,
  { amount, delivered, release }: KeptAnswer,
): Promise<SettleResponse> => {
  const requirements: PaymentRequirements = { ...paymentPayload.accepted, amount };
  const settle = (signed: string) =>
    settleRelease(seller, { paymentPayload, requirements }, signed);
  let refused: SettleResponse | null = null;
  try {
    const first = await settle(release);
    if (first.success) return first;
    refused = first;
    const bare = await signedRelease(seller, held, delivered, { amount, isBare: true });
    return await settle(bare.release);
  } catch (cause) {
    return refused ?? failedSettlement(held.payment, requirements.network, cause);
  }
};

/**
 * The answer that a payment was attested for, settled; null when none is kept. The handler runs once for a payment, so
 * an answer that cannot be settled is refused.
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
 * How x402's middleware can give an answer again, byte for byte; null when it cannot. It can write HTML, and JSON in
 * the form of `JSON.stringify`, with status 200 and only the content type of the handler's headers.
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
  // The middleware treats null, false, 0 and "" as no body.
  return { contentType, body: { toJSON: () => JSON.parse(text) as unknown } };
};

/** The seller of each scheme. */
export const sellersOf = new WeakMap<SchemeNetworkServer, SellerContext>();

/** The part of x402's resource server that is used here. */
type Schemes = {
  readonly getRegisteredScheme: (
    network: `${string}:${string}`,
    scheme: string,
  ) => SchemeNetworkServer | undefined;
};

const payloadIn = (header: string): PaymentPayload =>
  JSON.parse(new TextDecoder().decode(decodeBase64(header))) as PaymentPayload;

/** Adds `private` to a `cache-control`, so that a shared cache does not give a paid answer to others. */
export const privately = (cacheControl: string | null): string =>
  cacheControl === null ? "private" : `${cacheControl}, private`;

/**
 * The answer to a request whose payment was answered before, as the handler gave it; null for every other request.
 * Frameworks ask before x402's middleware, which gives only JSON and HTML again by itself. Never rejects.
 * @example
 * import { HonoAdapter } from "@x402/hono";
 * import { Hono } from "hono";
 * import { answerAgain } from "settlement-evidence/x402";
 *
 * const app = new Hono();
 * app.use(async (c, next) => (await answerAgain(resources, new HonoAdapter(c))) ?? next());
 * app.get("/quotes", (c) => c.text("1.50"));
 * (await app.request("/quotes")).status; // => 200
 */
export const answerAgain = async (
  resources: Schemes,
  adapter: Pick<HTTPAdapter, "getHeader" | "getMethod" | "getUrl">,
): Promise<Response | null> => {
  try {
    const paymentPayload = payloadIn(adapter.getHeader("payment-signature") ?? "");
    const { network, scheme } = paymentPayload.accepted;
    const seller = sellersOf.get(resources.getRegisteredScheme(network, scheme) ?? ({} as never));
    if (seller === undefined) return null;
    const transportContext = { request: { adapter } };
    const replay = await replayOf(seller, { paymentPayload, transportContext });
    if (replay === null || !replay.settled.success) return null;
    const { status, headers, body } = replay.answer;
    const given = new Headers(headers);
    given.set("cache-control", privately(given.get("cache-control")));
    const settled = new TextEncoder().encode(JSON.stringify(replay.settled));
    given.set("payment-response", encodeBase64(settled));
    return new Response(body.length === 0 ? null : new Uint8Array(body), {
      status,
      headers: given,
    });
  } catch {
    // x402's middleware then reports what is wrong with the payment.
    return null;
  }
};
