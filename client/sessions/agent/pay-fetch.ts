import { formatUnits } from "../../../core/domain/amount.ts";
import { policyIn } from "../../pinned-policy.ts";
import { type Fetch, runtimeFetch } from "../../service/fetch-directly.ts";
import { offerJudge, type PayPolicy, refuseToPay } from "./pay-policy.ts";
import { codeOf, type PaidSession, payingSessions } from "./paying-sessions.ts";
import { type SessionOffer, sessionOffer } from "./session-offer.ts";

/** A `fetch` that pays, and what closes its sessions. */
export type PayFetch = ((
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>) & {
  /** Closes every session that is open, and says what each cost. Sessions that stay open end with their time to live. */
  readonly close: () => Promise<ReadonlyArray<PaidSession>>;
};

/** Prices that are remembered, so that a further call of the same path asks no second time. */
const MOST_PRICES = 1_000;
/** Sessions that one call may go through. */
const MOST_SESSIONS = 3;

/** Codes after which a session takes no further call, and another one is opened. */
const OVER: ReadonlySet<string> = new Set([
  "answer_lost_before",
  "budget_exceeded",
  "session_closed",
  "session_ended",
  "session_restored",
]);

const BROKE = "has broken the rules of a session";
/** Codes after which a merchant is paid no more, and what it did. */
const SHUNNED: ReadonlyMap<string, string> = new Map([
  ["another_payload", BROKE],
  ["answer_lost", "has charged for an answer that it did not give"],
  ["equivocation", BROKE],
  ["invalid_record", BROKE],
  ["price_above_limit", BROKE],
  ["receipt_not_signed", BROKE],
  ["receipt_of_another_call", BROKE],
  ["session_stopped", BROKE],
]);

/** Codes of a seller that takes no call of anybody now: the session is closed, and none is opened in its place. */
const STOPPED: ReadonlySet<string> = new Set(["attestor_revoked", "merchant_suspended"]);

const isOver = (cause: unknown): boolean =>
  OVER.has(codeOf(cause)) || SHUNNED.has(codeOf(cause)) || STOPPED.has(codeOf(cause));

/**
 * A `fetch` that pays for what asks to be paid. A request that is answered 402 with an offer for sessions opens one, or
 * reuses it, and is made again with a voucher; every other answer is given as it is. A stream of events is given as it
 * comes, and ends once its receipt is taken. No redirect is followed with a voucher. @throws SettlementError for a wrong option
 * @example
 * import { memorySessionJournal, payFetch } from "settlement-evidence";
 *
 * const pay = payFetch({
 *   service,
 *   trust,
 *   signer,
 *   maxPrice: "0.05",
 *   budget: "5.00",
 *   lamportsPerUnit: 6.7,
 *   journal: memorySessionJournal,
 * });
 * typeof pay; // => "function"
 * await pay.close(); // => []
 */
export const payFetch = (policy: PayPolicy, fetchWith: Fetch = runtimeFetch): PayFetch => {
  const sessions = payingSessions(policy, fetchWith);
  const trust = policyIn(policy.trust);
  const { judge, shun } = offerJudge(policy);
  const prices = new Map<string, SessionOffer>();

  const paid = async (
    request: Request,
    offer: SessionOffer,
    onStream: (answer: Response) => void,
  ): Promise<Response> => {
    const { origin } = new URL(request.url);
    const limit = formatUnits(offer.price, offer.mint.decimals);
    for (let tries = 1; ; tries++)
      try {
        const answer = await sessions.use(
          offer,
          origin,
          (session) => session.call(request.clone(), { limit, onStream }),
          isOver,
        );
        return answer.response;
      } catch (cause) {
        const reason = SHUNNED.get(codeOf(cause));
        if (reason !== undefined) shun(offer.merchant, reason);
        if (!OVER.has(codeOf(cause)) || tries >= MOST_SESSIONS) throw cause;
      }
  };

  /** The whole answer. A stream is told of before its end. */
  const wholeAnswer = async (
    request: Request,
    onStream: (answer: Response) => void,
  ): Promise<Response> => {
    const { origin, pathname } = new URL(request.url);
    const key = `${request.method} ${origin}${pathname}`;
    const remembered = prices.get(key);
    if (remembered !== undefined)
      try {
        judge(remembered, request);
        return await paid(request, remembered, onStream);
      } catch (cause) {
        if (codeOf(cause) !== "limit_below_price") throw cause;
        prices.delete(key);
      }
    const body = new Uint8Array(await request.clone().arrayBuffer());
    const answer = await fetchWith(request.url, {
      method: request.method,
      headers: request.headers,
      redirect: request.redirect,
      signal: request.signal,
      ...(body.length === 0 ? {} : { body }),
    });
    const offer = sessionOffer(answer, trust);
    if (offer === null) return answer;
    await answer.body?.cancel();
    if (answer.redirected)
      refuseToPay(
        "redirected",
        `${origin} redirects to ${new URL(answer.url).origin}, which asks to be paid.`,
        "Ask that address itself, if you trust it.",
      );
    judge(offer, request);
    if (prices.size >= MOST_PRICES) prices.clear();
    prices.set(key, offer);
    return paid(request, offer, onStream);
  };
  // What fails after a stream began fails its body.
  const pay = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      wholeAnswer(new Request(input, init), resolve).then(resolve, reject);
    });

  return Object.assign(pay, { close: sessions.close });
};
