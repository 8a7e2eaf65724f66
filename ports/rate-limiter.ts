import { Context, type Effect } from "effect";

/** The separate budgets a client has. */
export const BUDGETS = ["reads", "prepare", "relay", "sync"] as const;
export type Budget = (typeof BUDGETS)[number];

/** What is left of a budget after a request, or that nothing was. */
export type RateDecision = {
  readonly allowed: boolean;
  /** Points in a window. */
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  /** Whole seconds, at least 1, until the window ends, or until a refused cost that fits a window is allowed. */
  readonly resetSeconds: number;
};

/** How many windows a client can owe at most, beyond the one it is in. */
export const MAX_OWED_WINDOWS = 5;

/** Counts what the requests of each client cost against each budget, in points. */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Takes `cost` points from a client's budget, or nothing when less is left. `client` is a network address
     * or any other text key; an IPv6 address counts as its /64 (core/domain/relay/client-group.ts).
     */
    readonly take: (budget: Budget, client: string, cost: number) => Effect.Effect<RateDecision>;
    /**
     * Takes `cost` whether or not that much is left. What goes beyond is owed: the client's next windows
     * begin with it, `MAX_OWED_WINDOWS` of them at most; the rest is forgotten.
     */
    readonly charge: (budget: Budget, client: string, cost: number) => Effect.Effect<void>;
    /** Points a window of each budget, and the window's length: what the policy states. */
    readonly limits: Readonly<Record<Budget, number>>;
    readonly windowSeconds: number;
  }
>()("settlement-evidence/ports/RateLimiter") {}
