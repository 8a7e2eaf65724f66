import { bytesToHex } from "@noble/hashes/utils.js";
import { formatUnits, parseAmount } from "../../../core/domain/amount.ts";
import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import { MAX_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { LEAST_SESSION_SECONDS, type SessionPlan } from "../../sessions/agent/open-session.ts";
import type { SessionOffer } from "../../sessions/agent/session-offer.ts";
import { SettlementError } from "../../settlement-error.ts";
import { aForeignText, at, UNSIGNED } from "../output.ts";
import { address, optional, text, type ValuesOf, whole } from "../parameter.ts";
import { type Question, questionTo, tool } from "../tool.ts";
import { NOTHING_TO_SIGN, sessionsOf, unlessUnsigned, wrongUnits } from "./session-step.ts";

const parameters = {
  agent: address("Wallet that pays the budget and signs"),
  url: text("A URL that the seller sells; GET asks what it costs"),
  budget: text("Base units, the most of all calls"),
  ttl_seconds: whole(LEAST_SESSION_SECONDS, MAX_TTL_SECONDS, "Then the rest comes home"),
  merchant: optional(address("Refuses any other wallet")),
} as const;

type Asked = ValuesOf<typeof parameters>;

/** The longest origin that is shown, characters. A host has at most 253 (RFC 1035). */
const MOST_ORIGIN = 270;

const refuse = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `${cure} Nothing was signed or sent.`);
};

const originOf = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol) || parsed.username !== "")
    return refuse("validation_failed", "url must be an http or https URL.", "Correct the call.");
  return parsed.origin;
};

/** What a seller's offer comes to under the caller's terms. @throws SettlementError for an offer that they exclude */
const planOf = (asked: Asked, offer: SessionOffer, origin: string): SessionPlan => {
  const { merchant, mint, attestor, price, leastSeconds } = offer;
  const budget = parseAmount(asked.budget);
  if (budget === undefined) throw wrongUnits("budget");
  if (asked.merchant !== undefined && asked.merchant !== merchant)
    refuse("another_merchant", `The seller is paid at ${merchant}.`, "Find out whose it is.");
  if (price > budget)
    refuse("offer_refused", `One call costs ${price}, more than budget.`, "Give a larger budget.");
  if (leastSeconds > asked.ttl_seconds)
    refuse("offer_refused", `It takes sessions of ${leastSeconds} s at least.`, "Give more.");
  return {
    merchant,
    mint: mint.address,
    attestor,
    budget: formatUnits(budget, mint.decimals),
    ttl: asked.ttl_seconds,
    origin,
  };
};

/** What the person is asked once, before there is a key or a transaction. */
const questionOf = (
  { agent }: Asked,
  plan: SessionPlan,
  { mint, price }: SessionOffer,
): Question => {
  const { merchant, budget, ttl, origin = "" } = plan;
  const symbol = foreignText(mint.symbol, 16);
  const terms = [agent, merchant, mint.address, plan.attestor, budget, ttl, origin];
  return {
    subject: bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(terms)))),
    message: `Let the model spend up to ${budget} ${symbol} (mint ${mint.address}) of wallet ${agent} on calls to ${foreignText(origin, MOST_ORIGIN)}, for merchant ${merchant}, WITHOUT ASKING YOU AGAIN? One call now costs ${formatUnits(price, mint.decimals)} ${symbol}. The wallet signs once. What is not used comes back when the session is closed, or after ${ttl} s.`,
  };
};

/** `open_session`: the budget of many calls to one seller, to be agreed to once and signed once. */
export const openSession = tool({
  name: "open_session",
  description:
    "Opens a session: one budget for many paid calls to one seller. The person agrees once. Same terms again: the same session until it is open.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  parameters,
  output: {
    session: at("session", "Its escrow"),
    state: at("state", "unsigned: sign; open: paid_fetch"),
    origin: aForeignText(MOST_ORIGIN),
    merchant: "merchant",
    price: at("price", "Of url, base units"),
    ...UNSIGNED,
  },
  run: async (asked, context) => {
    const sessions = sessionsOf(context);
    const origin = originOf(asked.url);
    const offer =
      (await sessions.offer(asked.url, context.signal)) ??
      refuse(
        "no_offer",
        `${foreignText(origin, MOST_ORIGIN)} offers no session that the trust document covers.`,
        "Give a URL that answers GET with 402.",
      );
    const plan = planOf(asked, offer, origin);
    const begun = await sessions.begun(plan, asked.agent);
    if (begun === null) {
      const question = questionTo(
        context,
        questionOf(asked, plan, offer),
        "Connect with a client that elicits.",
      );
      if (question !== null) return { question };
    }
    const session = begun ?? (await sessions.begin(plan, asked.agent));
    const opened = await unlessUnsigned(() => sessions.open(session, context.signal));
    return {
      answer: {
        session,
        origin,
        merchant: offer.merchant,
        price: offer.price.toString(),
        ...("unsigned" in opened
          ? { state: "unsigned", ...opened.unsigned }
          : { state: "open", ...NOTHING_TO_SIGN }),
      },
    };
  },
});
