import { formatUnits } from "../../../core/domain/amount.ts";
import type { ConnectOptions } from "../../connect.ts";
import { originGuard } from "../../pay/allowed-origins.ts";
import { unitsOf } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner } from "../../signing/sign-transaction.ts";
import { KEPT_RENT } from "./end-session.ts";
import { LEAST_SESSION_SECONDS } from "./open-session.ts";
import type { SessionJournal } from "./session-journal.ts";
import type { SessionOffer } from "./session-offer.ts";

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

/** Ends what was asked for before anything is signed. @throws SettlementError with these words */
export const refuseToPay = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `Nothing was signed. ${cure}`);
};

/** How long a session lasts where the policy does not say, in seconds. */
const SESSION_SECONDS = 3_600;
/** Of a budget, the share that its kept rent may be worth. */
const MOST_RENT_SHARE = 0.05;

/** How long each session of a policy lasts, in seconds. */
export const sessionSeconds = ({ ttl = SESSION_SECONDS }: Pick<PayPolicy, "ttl">): number => ttl;

/** Judges offers by a policy. */
export type OfferJudge = {
  /** @throws SettlementError `offer_refused` or `rent_refused` for what the policy does not allow */
  readonly judge: (offer: SessionOffer, request: Request) => void;
  /** Has every further offer of a merchant refused, for this reason. */
  readonly shun: (merchant: string, reason: string) => void;
};

/** The judge of a policy. @throws SettlementError for a wrong option */
export const offerJudge = (policy: PayPolicy): OfferJudge => {
  const { budget, merchants, lamportsPerUnit } = policy;
  const ttl = sessionSeconds(policy);
  const originObjection = originGuard(policy.origins);
  if (lamportsPerUnit === undefined && !policy.allowRent)
    refuseToPay(
      "invalid_policy",
      "The policy says nothing of the rent that each session keeps.",
      "Give lamportsPerUnit, or allowRent: true.",
    );
  if (!(ttl >= LEAST_SESSION_SECONDS))
    refuseToPay(
      "invalid_ttl",
      `A session has at least ${LEAST_SESSION_SECONDS} s.`,
      "Give a longer ttl.",
    );
  const shunned = new Map<string, string>();

  return {
    judge: (offer, request) => {
      const { merchant, mint, price, leastSeconds } = offer;
      const shown = `${formatUnits(price, mint.decimals)} ${mint.symbol}`;
      const units = unitsOf(budget, mint.decimals);
      const objection =
        originObjection(`${request.method} ${request.url}`) ??
        (merchants?.includes(merchant) === false
          ? `${merchant} is not among the merchants that may be paid.`
          : shunned.has(merchant)
            ? `${merchant}, or its attestor, ${shunned.get(merchant)} before.`
            : price > unitsOf(policy.maxPrice, mint.decimals)
              ? `${shown} is more than ${policy.maxPrice} for a call.`
              : price > units
                ? `${shown} is more than a session's budget of ${budget}.`
                : leastSeconds > ttl
                  ? `The seller takes sessions of ${leastSeconds} s at least, and the policy opens them for ${ttl}.`
                  : null);
      if (objection !== null)
        refuseToPay("offer_refused", objection, "Change the policy if this is meant.");
      const most = Number(units) * (lamportsPerUnit ?? 0) * MOST_RENT_SHARE;
      if (lamportsPerUnit !== undefined && Number(KEPT_RENT) > most)
        refuseToPay(
          "rent_refused",
          `A session keeps ${KEPT_RENT} lamports of rent, and 5 % of ${budget} ${mint.symbol} are ${Math.floor(most)}.`,
          "Give a larger budget, or allowRent: true.",
        );
    },
    shun: (merchant, reason) => void shunned.set(merchant, reason),
  };
};
