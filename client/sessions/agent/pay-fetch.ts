import { formatUnits } from "../../../core/domain/amount.ts";
import { connect, type ConnectOptions } from "../../connect.ts";
import { originGuard } from "../../pay/allowed-origins.ts";
import { unitsOf } from "../../pay/payment-terms.ts";
import { policyIn } from "../../pinned-policy.ts";
import { type Fetch, runtimeFetch } from "../../service/fetch-directly.ts";
import { systemClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner } from "../../signing/sign-transaction.ts";
import { type EndedSession, KEPT_RENT } from "./end-session.ts";
import { LEAST_SESSION_SECONDS } from "./open-session.ts";
import type { Session } from "./session.ts";
import type { SessionJournal } from "./session-journal.ts";
import { type SessionOffer, sessionOffer } from "./session-offer.ts";

/** How much of a session's budget its kept rent may be worth. */
type RentPolicy =
  | {
      /**
       * What a base unit of the mint is worth in lamports, such as 6.7 for USDC at 150 USD a SOL. A session whose kept
       * rent is worth more than 5 % of its budget is not opened.
       */
      readonly lamportsPerUnit: number;
      readonly allowRent?: never;
    }
  | {
      /** Opens sessions whatever their rent is worth beside the budget. */
      readonly allowRent: true;
      readonly lamportsPerUnit?: never;
    };

/** What is paid for without asking, and how. */
export type PayPolicy = ConnectOptions &
  RentPolicy & {
    /** The address of the agent's own service. */
    readonly service: string;
    /** The agent's wallet. */
    readonly signer: AcceptedSigner;
    /** The most that one call may cost, decimal. */
    readonly maxPrice: string;
    /** What each session is opened with, decimal. The rest comes home when it is closed. */
    readonly budget: string;
    /** Seconds that each session lasts, 600 to 604,800; 3,600 when left out. */
    readonly ttl?: number;
    /** The wallets that may be paid; any when left out. */
    readonly merchants?: ReadonlyArray<string>;
    /** The origins that may be paid, such as `https://api.example.com`; any when left out. */
    readonly origins?: ReadonlyArray<string>;
    /** The most sessions that are open at once; 4 when left out. Each is for one origin and merchant. */
    readonly maxSessions?: number;
    /**
     * The journal of this name: `memorySessionJournal` for this process alone, or a file of the name, so that the next
     * process goes on with the session.
     */
    readonly journal: (name: string) => SessionJournal | Promise<SessionJournal>;
  };

/** What became of one session at the end: its cost, or why it could not be closed. */
export type PaidSession = {
  readonly escrow: string;
  readonly ended: EndedSession | null;
  readonly failure: SettlementError | null;
};

/** A `fetch` that pays, and what closes its sessions. */
export type PayFetch = ((
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>) & {
  /** Closes every session that is open, and says what each cost. Sessions that stay open end with their time to live. */
  readonly close: () => Promise<ReadonlyArray<PaidSession>>;
};

type Lane = { readonly session: Session; readonly journal: SessionJournal };

const refuse = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `Nothing was signed. ${cure}`);
};

const MOST_SESSIONS = 4;
const SESSION_SECONDS = 3_600;
/** Of a budget, the share that its kept rent may be worth. */
const MOST_RENT_SHARE = 0.05;
/** Journals that are tried for one place: those before are of sessions that are over, or of other processes. */
const MOST_JOURNALS = 1_000;
/** Prices that are remembered, so that a further call of the same path asks no second time. */
const MOST_PRICES = 1_000;
/** Sessions that one call may go through. */
const MOST_LANES = 3;

/** Codes after which a session takes no further call, and another one is opened. */
const OVER: ReadonlySet<string> = new Set([
  "budget_exceeded",
  "session_closed",
  "session_ended",
  "session_restored",
]);
/** Codes of a seller, or its attestor, that broke the rules. */
const BROKEN: ReadonlySet<string> = new Set([
  "another_payload",
  "equivocation",
  "invalid_record",
  "price_above_limit",
  "receipt_not_signed",
  "receipt_of_another_call",
  "session_stopped",
]);

const codeOf = (cause: unknown): string => (cause instanceof SettlementError ? cause.code : "");

/** Whose calls one session pays for. */
const placeOf = (offer: SessionOffer, origin: string): string =>
  [origin, offer.merchant, offer.mint.address, offer.attestor].join(" ");

/** Seconds before its end from which a seller answers no call of a session. */
const marginOf = (ttl: number): number => Math.max(60, Math.min(900, ttl / 10));

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
  const { signer, budget, ttl = SESSION_SECONDS, maxSessions = MOST_SESSIONS } = policy;
  const { merchants, lamportsPerUnit, clock = systemClock } = policy;
  const client = connect(policy.service, policy);
  const trust = policyIn(policy.trust);
  const originObjection = originGuard(policy.origins);
  if (lamportsPerUnit === undefined && !policy.allowRent)
    refuse(
      "invalid_policy",
      "The policy says nothing of the rent that each session keeps.",
      "Give lamportsPerUnit, or allowRent: true.",
    );
  if (!(ttl >= LEAST_SESSION_SECONDS))
    refuse(
      "invalid_ttl",
      `A session has at least ${LEAST_SESSION_SECONDS} s.`,
      "Give a longer ttl.",
    );
  const lanes = new Map<string, Promise<Lane>>();
  const closings: Array<Promise<PaidSession>> = [];
  const prices = new Map<string, SessionOffer>();
  const broken = new Set<string>();

  /** @throws SettlementError for an offer that the policy does not allow */
  const judge = (offer: SessionOffer, request: Request): void => {
    const { merchant, mint, price, leastSeconds } = offer;
    const shown = `${formatUnits(price, mint.decimals)} ${mint.symbol}`;
    const units = unitsOf(budget, mint.decimals);
    const objection =
      originObjection(`${request.method} ${request.url}`) ??
      (merchants?.includes(merchant) === false
        ? `${merchant} is not among the merchants that may be paid.`
        : broken.has(merchant)
          ? `${merchant}, or its attestor, has broken the rules of a session before.`
          : price > unitsOf(policy.maxPrice, mint.decimals)
            ? `${shown} is more than ${policy.maxPrice} for a call.`
            : price > units
              ? `${shown} is more than a session's budget of ${budget}.`
              : leastSeconds > ttl
                ? `The seller takes sessions of ${leastSeconds} s at least, and the policy opens them for ${ttl}.`
                : null);
    if (objection !== null)
      refuse("offer_refused", objection, "Change the policy if this is meant.");
    const most = Number(units) * (lamportsPerUnit ?? 0) * MOST_RENT_SHARE;
    if (lamportsPerUnit !== undefined && Number(KEPT_RENT) > most)
      refuse(
        "rent_refused",
        `A session keeps ${KEPT_RENT} lamports of rent, and 5 % of ${budget} ${mint.symbol} are ${Math.floor(most)}.`,
        "Give a larger budget, or allowRent: true.",
      );
  };

  const close = async ({ session, journal }: Lane): Promise<PaidSession> => {
    const { escrow } = session;
    try {
      const ended = await session.close();
      return { escrow, ended, failure: null };
    } catch (cause) {
      if (cause instanceof SettlementError) return { escrow, ended: null, failure: cause };
      throw cause;
    } finally {
      await journal.release();
    }
  };

  /** Whether a session can pay for a call of this price now. */
  const isUsable = async (session: Session, price: bigint): Promise<boolean> => {
    const { left, expiresAt, isClosed, stopped } = await session.state();
    const seconds = (Date.parse(expiresAt) - clock.nowMs()) / 1000;
    return !isClosed && stopped === null && BigInt(left) >= price && seconds > marginOf(ttl);
  };

  /** The journal of a name, null where another process holds it. */
  const freeJournal = async (name: string): Promise<SessionJournal | null> => {
    try {
      return await policy.journal(name);
    } catch (cause) {
      if (codeOf(cause) === "store_in_use") return null;
      throw cause;
    }
  };

  /** The first journal of a place whose session goes on, or that has none yet. */
  const openedLane = async (
    { merchant, mint, attestor, price }: SessionOffer,
    origin: string,
  ): Promise<Lane> => {
    const host = origin.replace(/^https?:\/\//, "").replaceAll(/[^A-Za-z0-9.-]/g, "_");
    for (let number = 1; number <= MOST_JOURNALS; number++) {
      const journal = await freeJournal(`${host}-${merchant}-${number}`);
      if (journal === null) continue;
      try {
        const session = await client.session({
          merchant,
          budget,
          ttl,
          mint: mint.address,
          attestor,
          signer,
          journal,
          fetch: fetchWith,
        });
        if (await isUsable(session, price)) return { session, journal };
        await journal.release();
      } catch (cause) {
        await journal.release();
        if (codeOf(cause) !== "another_session") throw cause;
      }
    }
    return refuse("too_many_journals", `${host} has ${MOST_JOURNALS} journals.`, "Name others.");
  };

  const laneFor = (offer: SessionOffer, origin: string): Promise<Lane> => {
    const place = placeOf(offer, origin);
    const open = lanes.get(place);
    if (open !== undefined) return open;
    if (lanes.size >= maxSessions)
      refuse("too_many_sessions", `${maxSessions} sessions are open.`, "Raise maxSessions.");
    const opening = openedLane(offer, origin);
    lanes.set(place, opening);
    opening.catch(() => lanes.delete(place));
    return opening;
  };

  const paid = async (
    request: Request,
    offer: SessionOffer,
    onStream: (answer: Response) => void,
  ): Promise<Response> => {
    const { origin } = new URL(request.url);
    const place = placeOf(offer, origin);
    const limit = formatUnits(offer.price, offer.mint.decimals);
    for (let tries = 1; ; tries++) {
      const opening = laneFor(offer, origin);
      const lane = await opening;
      try {
        const { response } = await lane.session.call(request.clone(), { limit, onStream });
        return response;
      } catch (cause) {
        const code = codeOf(cause);
        if (BROKEN.has(code)) broken.add(offer.merchant);
        if ((BROKEN.has(code) || OVER.has(code)) && lanes.get(place) === opening) {
          lanes.delete(place);
          closings.push(close(lane));
        }
        if (!OVER.has(code) || tries >= MOST_LANES) throw cause;
      }
    }
  };

  /** The whole answer. A stream is told of before its end. */
  const wholeAnswer = async (
    request: Request,
    onStream: (answer: Response) => void,
  ): Promise<Response> => {
    const { origin, pathname } = new URL(request.url);
    const key = `${request.method} ${origin}${pathname}`;
    const known = prices.get(key);
    if (known !== undefined)
      try {
        judge(known, request);
        return await paid(request, known, onStream);
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
      refuse(
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

  return Object.assign(pay, {
    close: async (): Promise<ReadonlyArray<PaidSession>> => {
      const open = await Promise.allSettled(lanes.values());
      lanes.clear();
      for (const each of open) if (each.status === "fulfilled") closings.push(close(each.value));
      return Promise.all(closings.splice(0));
    },
  });
};
