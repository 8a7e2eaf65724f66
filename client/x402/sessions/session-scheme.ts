import type { HTTPAdapter, SettleContext, VerifyContext } from "@x402/core/server";
import type { SchemeNetworkServer, SettleResponse } from "@x402/core/types";
import { formatUnits } from "../../../core/domain/amount.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER } from "../../../core/protocol/calls/call-voucher.ts";
import { HEAD_HEADER } from "../../../core/protocol/calls/session-head.ts";
import { SESSION_SCHEME, x402Network } from "../../../core/protocol/x402/payment-requirements.ts";
import { later } from "../../sessions/frameworks/later.ts";
import type { PaidCall } from "../../sessions/seller/seller-context.ts";
import type { SessionSeller } from "../../sessions/seller/session-seller.ts";
import { SettlementError } from "../../settlement-error.ts";
import { inOneLine, lineOf } from "../payment-error.ts";
import { exchangeIn, priceIn } from "../seller/seller-context.ts";
import { facilitatorObjection } from "../seller/facilitator-support.ts";
import { type CallRefusal, membersOf, type WrappedAnswer } from "./session-wire.ts";

/** How calls of sessions are sold through x402. */
export type SessionSchemeOptions = {
  /**
   * The bytes of a request's body, before anything reads them. x402's adapters give parsed bodies alone, so without this
   * a request with a body is refused.
   */
  readonly body?: (adapter: HTTPAdapter) => Uint8Array | Promise<Uint8Array>;
};

/** A call whose handler runs. */
type Running = {
  readonly call: PaidCall;
  /** What the seller makes of the handler's answer. */
  readonly answer: Promise<Response>;
  readonly deliver: (response: Response) => void;
};

/** What became of a payload: its handler runs, or it was answered without one, or it is refused. */
type Presented = Running | { readonly wrapped: WrappedAnswer } | { readonly refusal: CallRefusal };

const OVERRIDES = "settlement-overrides";
/** Base64 that a header can hold. */
const BASE64 = /^[A-Za-z0-9+/]{1,8192}={0,2}$/;

const refuse = (status: number, code: string, detail: string): Presented => ({
  refusal: { status, code, detail },
});

const refusalIn = async (answer: Response): Promise<CallRefusal> => {
  const { code, detail } = membersOf(await answer.json().catch(() => null));
  const head = answer.headers.get(HEAD_HEADER);
  return {
    status: answer.status,
    code: typeof code === "string" ? code : "call_refused",
    detail: typeof detail === "string" ? detail : "The call is not taken.",
    ...(head === null ? {} : { head }),
  };
};

/** The body of a request; null where it has one that nobody gives. */
const bodyOf = async (
  adapter: HTTPAdapter,
  { body }: SessionSchemeOptions,
): Promise<Uint8Array | null> => {
  if (body !== undefined) return body(adapter);
  const length = adapter.getHeader("content-length") ?? "0";
  return length === "0" && adapter.getHeader("transfer-encoding") === undefined
    ? new Uint8Array()
    : null;
};

/** Has the seller judge the call of a payload, up to the moment at which its handler must run. */
const present = async (
  seller: SessionSeller,
  options: SessionSchemeOptions,
  { paymentPayload, requirements, transportContext }: VerifyContext,
): Promise<Presented> => {
  const { adapter, isHead, method, url } = exchangeIn(transportContext);
  if (isHead) return refuse(400, "head_request", "HEAD delivers nothing to pay for. Send GET.");
  const { voucher, head } = paymentPayload.payload;
  if (typeof voucher !== "string" || !BASE64.test(voucher))
    return refuse(
      400,
      "invalid_voucher",
      "The payload carries no voucher: the buyer's fetch is not the one of sessionBuyer.",
    );
  const body = await bodyOf(adapter, options);
  if (body === null)
    return refuse(
      400,
      "invalid_request",
      "The seller reads no body: it gives sessionScheme no `body`.",
    );
  const headers = new Headers({ [VOUCHER_HEADER]: voucher });
  if (typeof head === "string" && BASE64.test(head)) headers.set(HEAD_HEADER, head);
  const sent = body.length === 0 ? {} : { body: body.slice() };
  const begun = later<PaidCall>();
  const delivered = later<Response>();
  const price = formatUnits(BigInt(requirements.amount), seller.terms.mint.decimals);
  const answer = seller.handle(new Request(url, { method, headers, ...sent }), price, (_, call) => {
    begun.resolve(call);
    return delivered.promise;
  });
  const first = await Promise.race([answer, begun.promise]);
  if (!(first instanceof Response)) {
    answer.catch(() => undefined);
    return { call: first, answer, deliver: delivered.resolve };
  }
  if (first.status >= 400) return { refusal: await refusalIn(first) };
  const wrapped: WrappedAnswer = {
    status: first.status,
    headers: [...first.headers],
    body: encodeBase64(new Uint8Array(await first.arrayBuffer())),
  };
  return { wrapped };
};

/** The handler's answer as the seller records it. x402 tells no status of it: it counts as 200. */
const answerIn = (transportContext: unknown): Response => {
  const { body, headers, status } = exchangeIn(transportContext);
  const given = new Headers(headers);
  given.delete(OVERRIDES);
  return new Response(body.length === 0 ? null : new Uint8Array(body), { status, headers: given });
};

/**
 * The seller's side of calls out of sessions (`delivery-session`), for `register` of an `x402ResourceServer` whose
 * facilitator is `<service>/x402`. The seller judges and records each call itself; no facilitator is asked. A handler
 * charges less by `Settlement-Overrides`.
 * @example
 * import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
 * import { memorySessions, sessionSeller } from "settlement-evidence/sessions";
 * import { networkOf, sessionScheme } from "settlement-evidence/x402";
 *
 * const keys = { merchant: wallet.address, attestor, payer: wallet };
 * const seller = sessionSeller({ service, trust, rpc, store: memorySessions(), ...keys });
 * const facilitator = new HTTPFacilitatorClient({ url: `${service}/x402` });
 * const scheme = sessionScheme(seller);
 * new x402ResourceServer(facilitator).register(networkOf(trust), scheme);
 * scheme.scheme; // => "delivery-session"
 * await seller.close();
 */
export const sessionScheme = (
  seller: SessionSeller,
  options: SessionSchemeOptions = {},
): SchemeNetworkServer => {
  const { policy, mint, requirements: asked } = seller.terms;
  const network = x402Network(policy.genesisHash);
  const presented = new WeakMap<object, Presented>();

  const settled = (extra: Readonly<Record<string, unknown>>): SettleResponse => ({
    success: true,
    transaction: "",
    network,
    extra,
  });

  const failed = (refusal: CallRefusal): SettleResponse => ({
    success: false,
    errorReason: refusal.code,
    errorMessage: refusal.detail,
    transaction: "",
    network,
    extra: { refusal },
  });

  const recorded = async (context: SettleContext, running: Running): Promise<SettleResponse> => {
    running.call.charge(BigInt(context.requirements.amount));
    const given = answerIn(context.transportContext);
    const { status } = given;
    running.deliver(given);
    const answer = await running.answer;
    const receipt = answer.headers.get(RECEIPT_HEADER);
    return receipt === null
      ? failed(await refusalIn(answer))
      : {
          ...settled({ escrow: running.call.escrow, receipt, status }),
          amount: context.requirements.amount,
        };
  };

  return {
    scheme: SESSION_SCHEME,
    defaultAssetTransferMethod: "default",
    paymentFlows: { default: { supported: ["authorization"], default: "authorization" } },
    parsePrice: (price) => inOneLine(() => Promise.resolve().then(() => priceIn(policy, price))),
    getAssetDecimals: (asset) => (asset === mint.address ? mint.decimals : undefined),
    enhancePaymentRequirements: (given) =>
      inOneLine(() =>
        Promise.resolve().then(() => {
          const own = asked(BigInt(given.amount));
          if (given.payTo !== own.payTo || given.asset !== own.asset)
            throw new SettlementError(
              "another_merchant",
              `The route asks for ${given.asset} to ${given.payTo}, the seller for ${own.asset} to ${own.payTo}.`,
              "Give the route the seller's merchant, and a price in its mint.",
            );
          return { ...given, extra: { ...given.extra, ...own.extra } };
        }),
      ),
    enrichPaymentRequiredResponse: ({ requirements, paymentPayload }) => {
      const of = presented.get(paymentPayload ?? {});
      if (of === undefined || !("refusal" in of)) return Promise.resolve(undefined);
      return Promise.resolve(
        requirements.map((each) =>
          each.scheme === SESSION_SCHEME && each.network === network
            ? { ...each, extra: { ...each.extra, refusal: of.refusal } }
            : each,
        ),
      );
    },
    validateFacilitatorSupport: (_, { extra }) => facilitatorObjection(policy, extra),
    // x402 only warns of a hook that throws, and goes on: none of these throws.
    schemeHooks: {
      onBeforeVerify: async (context) => {
        const of = await present(seller, options, context).catch((cause: unknown): Presented => {
          const { code, line } = lineOf(cause);
          return refuse(500, code, line);
        });
        presented.set(context.paymentPayload, of);
        if (!("refusal" in of)) return { skip: true, result: { isValid: true } };
        return { abort: true, reason: of.refusal.code, message: of.refusal.detail };
      },
      onAfterVerify: ({ paymentPayload }) => {
        const of = presented.get(paymentPayload);
        return Promise.resolve(
          of !== undefined && "wrapped" in of
            ? { skipHandler: true, response: { contentType: "application/json", body: of.wrapped } }
            : undefined,
        );
      },
      onBeforeSettle: async (context) => {
        const of = presented.get(context.paymentPayload);
        if (of === undefined) return { abort: true, reason: "invalid_voucher" };
        if ("refusal" in of) return { skip: true, result: failed(of.refusal) };
        if ("wrapped" in of) return { skip: true, result: settled({ isWrapped: true }) };
        try {
          return { skip: true, result: await recorded(context, of) };
        } catch (cause) {
          of.deliver(new Response(null, { status: 500 }));
          const { code, line } = lineOf(cause);
          return { skip: true, result: failed({ status: 500, code, detail: line }) };
        }
      },
      onVerifiedPaymentCanceled: async ({ paymentPayload }) => {
        const of = presented.get(paymentPayload);
        if (of === undefined || !("deliver" in of)) return;
        of.deliver(new Response(null, { status: 500 }));
        await of.answer.catch(() => undefined);
      },
    },
  };
};
