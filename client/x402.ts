/**
 * The entry `./x402` of the client package: x402's schemes `auth-capture` and `delivery-session` for buyers
 * and sellers, and fastify's adapter.
 * See docs/x402.md.
 */

export { buyerScheme } from "./x402/buyer/buyer-scheme.ts";
export type { BuyerOptions, OfferedTerms } from "./x402/buyer/buyer-scheme.ts";
export { wholeAnswers } from "./x402/buyer/kept-payments.ts";
export { answerAgain } from "./x402/seller/replay.ts";
export { fastifyAdapter, payFastify } from "./x402/seller/fastify.ts";
export type { FastifyApp, FastifyReply, FastifyRequest } from "./x402/seller/fastify.ts";
export { networkOf } from "./x402/network.ts";
export type { KeptAnswers } from "./x402/seller/kept-answers.ts";
export { memoryClaims } from "./x402/seller/kept-answers.ts";
export type { PaymentClaims } from "./x402/seller/kept-answers.ts";
export { sellerScheme } from "./x402/seller/seller-scheme.ts";
export type { SellerOptions } from "./x402/seller/seller-scheme.ts";
export type { Delivered, Delivery } from "./x402/seller/seller-context.ts";
export type { SellerKey } from "./signing/sign-transaction.ts";
export { withHead } from "./x402/seller/fastify.ts";
export { sessionBuyer } from "./x402/sessions/session-buyer.ts";
export type { SessionBuyer } from "./x402/sessions/session-buyer.ts";
export { sessionScheme } from "./x402/sessions/session-scheme.ts";
export type { SessionSchemeOptions } from "./x402/sessions/session-scheme.ts";
export { SettlementError } from "./settlement-error.ts";
