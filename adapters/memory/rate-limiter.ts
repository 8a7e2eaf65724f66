import { Clock, Effect, Layer } from "effect";
import { clientGroup } from "../../core/domain/relay/client-group.ts";
import {
  type Budget,
  MAX_OWED_WINDOWS,
  type RateDecision,
  RateLimiter,
} from "../../ports/rate-limiter.ts";

/** What one client has used of one budget, what it owes included, and when its window ends on the monotonic clock. */
type Window = { readonly endsAtNanos: bigint; used: number };

/**
 * Fixed windows, each client's beginning with its first request, or where the one before ended while
 * something is owed. All windows are equally long, so that a map in the order in which they were put there
 * has the ended ones in front.
 */
const windowsOf = (limit: number, windowNanos: bigint, maxClients: number) => {
  const windows = new Map<string, Window>();

  /** The window that an ended one goes on in, null when nothing is owed any more. */
  const owedAfter = ({ endsAtNanos, used }: Window, nowNanos: bigint): Window | null => {
    const ended = (nowNanos - endsAtNanos) / windowNanos + 1n;
    const owed = used - limit * Number(ended);
    return owed > 0 ? { endsAtNanos: endsAtNanos + ended * windowNanos, used: owed } : null;
  };
  /** Puts a client's window at the end of the map. */
  const put = (client: string, window: Window): Window => {
    windows.delete(client);
    windows.set(client, window);
    return window;
  };
  /** Looks after the window in front: an ended one goes, unless its client owes something. */
  const tidy = (nowNanos: bigint) => {
    const [oldest] = windows;
    if (oldest === undefined || oldest[1].endsAtNanos > nowNanos) return;
    const owed = owedAfter(oldest[1], nowNanos);
    if (owed === null) windows.delete(oldest[0]);
    else put(oldest[0], owed);
  };
  const dropOldest = () => {
    const [oldest] = windows.keys();
    if (oldest !== undefined) windows.delete(oldest);
  };

  return (client: string, nowNanos: bigint): Window => {
    const known = windows.get(client);
    if (known !== undefined && known.endsAtNanos > nowNanos) return known;
    const owed = known === undefined ? null : owedAfter(known, nowNanos);
    if (owed !== null) return put(client, owed);
    windows.delete(client);
    // Two are looked after for each one that comes: ended windows run out, and no request pays for them all.
    tidy(nowNanos);
    tidy(nowNanos);
    if (windows.size >= maxClients) dropOldest();
    return put(client, { endsAtNanos: nowNanos + windowNanos, used: 0 });
  };
};

/**
 * Budgets counted in this process's memory, by a clock that no change of the wall clock moves. At
 * most `maxClients` clients a budget are kept, of about 200 bytes each; beyond that the one
 * whose window began first is forgotten, which gives it a new budget early. IPv6 clients count by
 * their /64.
 */
export const rateLimiterMemory = (options: {
  /** Points a window of each budget. */
  readonly limits: Readonly<Record<Budget, number>>;
  readonly windowSeconds: number;
  readonly maxClients: number;
}) =>
  Layer.sync(RateLimiter, () => {
    const { limits, windowSeconds, maxClients } = options;
    const windowNanos = BigInt(windowSeconds) * 1_000_000_000n;
    const windows = (budget: Budget) => windowsOf(limits[budget], windowNanos, maxClients);
    const budgets: Readonly<Record<Budget, ReturnType<typeof windowsOf>>> = {
      reads: windows("reads"),
      prepare: windows("prepare"),
      relay: windows("relay"),
      sync: windows("sync"),
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
          // While much is owed, more windows than this one have to end before there is room.
          const more = allowed ? 0 : Math.ceil((window.used + cost) / Math.max(1, limit)) - 2;
          const waitNanos = window.endsAtNanos - nowNanos + BigInt(Math.max(0, more)) * windowNanos;
          return {
            allowed,
            limit,
            windowSeconds,
            remaining: Math.max(0, limit - window.used),
            resetSeconds: Math.max(1, Math.ceil(Number(waitNanos) / 1e9)),
          };
        }),
      charge: (budget, client, cost) =>
        Effect.map(Clock.monotonicTimeNanos, (nowNanos) => {
          const window = budgets[budget](clientGroup(client), nowNanos);
          window.used = Math.min(window.used + cost, limits[budget] * (1 + MAX_OWED_WINDOWS));
        }),
    });
  });
