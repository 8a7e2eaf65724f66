import { Context, type Effect } from "effect";

/** The budgets of a client. Each is counted separately. */
export const BUDGETS = ["reads", "prepare", "relay", "sync"] as const;
/** One of `BUDGETS`. */
export type Budget = (typeof BUDGETS)[number];

/** Whether a request is allowed, and what is left of its budget. */
export type RateDecision = {
  readonly allowed: boolean;
  /** Points per window. */
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds, at least 1, until the window ends. For a refused cost that fits a window, until it is allowed. */
  readonly resetSeconds: number;
};

/** The most windows that a client can owe, beyond the present one. */
export const MAX_OWED_WINDOWS = 5;

/** Counts the cost of each client's requests against its budgets, in points. */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Takes `cost` points from a client's budget, or nothing when less is left. `client` is a network address or
     * another text. An IPv6 address counts as its /64 (`clientGroup`).
     */
    readonly take: (budget: Budget, client: string, cost: number) => Effect.Effect<RateDecision>;
    /**
     * Takes `cost` points even when less is left. The excess is owed: it is taken from the client's next windows, at
     * most `MAX_OWED_WINDOWS` of them, and the rest is dropped. A negative cost gives points back, at most those that
     * were taken in the present window.
     */
    readonly charge: (budget: Budget, client: string, cost: number) => Effect.Effect<void>;
    /** Points per window of each budget, and the window's length, as the policy states them. */
    readonly limits: Readonly<Record<Budget, number>>;
    readonly windowSeconds: number;
  }
>()("settlement-evidence/ports/RateLimiter") {}
