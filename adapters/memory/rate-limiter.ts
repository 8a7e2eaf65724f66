import { Clock, Effect, Layer } from "effect";
import { clientGroup } from "../../core/domain/client-group.ts";
import { type Budget, type RateDecision, RateLimiter } from "../../ports/rate-limiter.ts";

/** What one client has used of one budget, and when its window ends on the monotonic clock. */
type Window = { readonly endsAtNanos: bigint; used: number };

/**
 * Fixed windows, each client's beginning with its first request. All windows are equally long, so
 * that a map in the order in which they began has the ended ones in front.
 */
const windowsOf = (windowNanos: bigint, maxClients: number) => {
  const windows = new Map<string, Window>();
  const drop = (mayDrop: (window: Window) => boolean) => {
    const [oldest] = windows;
    if (oldest !== undefined && mayDrop(oldest[1])) windows.delete(oldest[0]);
  };
  return (client: string, nowNanos: bigint): Window => {
    const known = windows.get(client);
    if (known !== undefined && known.endsAtNanos > nowNanos) return known;
    windows.delete(client);
    // Two go for each one that comes: ended windows run out, and no request pays for them all.
    drop((window) => window.endsAtNanos <= nowNanos);
    drop((window) => window.endsAtNanos <= nowNanos || windows.size >= maxClients);
    const fresh = { endsAtNanos: nowNanos + windowNanos, used: 0 };
    windows.set(client, fresh);
    return fresh;
  };
};

/**
 * Budgets counted in this process's memory, by a clock that no change of the wall clock moves. At
 * most `maxClients` clients a budget are kept, of about 200 bytes each; beyond that the one
 * whose window began first is forgotten, which gives it a new budget early. IPv6 clients count by
 * their /64.
 */
export const rateLimiterMemory = (options: {
  /** Requests a window of each budget. */
  readonly limits: Readonly<Record<Budget, number>>;
  readonly windowSeconds: number;
  readonly maxClients: number;
}) =>
  Layer.sync(RateLimiter, () => {
    const { limits, windowSeconds, maxClients } = options;
    const windows = () => windowsOf(BigInt(windowSeconds) * 1_000_000_000n, maxClients);
    const budgets: Readonly<Record<Budget, ReturnType<typeof windowsOf>>> = {
      reads: windows(),
      prepare: windows(),
      relay: windows(),
      sync: windows(),
    };
    return RateLimiter.of({
      limits,
      windowSeconds,
      take: (budget, client, cost) =>
        Effect.map(Clock.monotonicTimeNanos, (nowNanos): RateDecision => {
          const window = budgets[budget](clientGroup(client), nowNanos);
          const limit = limits[budget];
          const allowed = window.used + cost <= limit;
          if (allowed) window.used += cost;
          const untilEndNanos = window.endsAtNanos - nowNanos;
          return {
            allowed,
            limit,
            windowSeconds,
            remaining: limit - window.used,
            resetSeconds: Math.max(1, Math.ceil(Number(untilEndNanos) / 1e9)),
          };
        }),
    });
  });
