import { Clock, Effect, Layer } from "effect";
import { clientGroup } from "../../core/domain/relay/relay-policy.ts";
import {
  type Budget,
  MAX_OWED_WINDOWS,
  type RateDecision,
  RateLimiter,
} from "../../ports/rate-limiter.ts";

/** One client's window of one budget: what is used, including what is owed, and its end on the monotonic clock. */
type Window = { readonly endsAtNanos: bigint; used: number };

/**
 * Fixed windows. A client's window begins with its first request, or at the end of the former one while something is
 * owed. All windows are equally long, so in a map ordered by start the ended ones come first.
 */
const windowsOf = (limit: number, windowNanos: bigint, maxClients: number) => {
  const windows = new Map<string, Window>();

  /** The next window of a client that owes something; null when nothing is owed. */
  const owedAfter = ({ endsAtNanos, used }: Window, nowNanos: bigint): Window | null => {
    const ended = (nowNanos - endsAtNanos) / windowNanos + 1n;
    const owed = used - limit * Number(ended);
    return owed > 0 ? { endsAtNanos: endsAtNanos + ended * windowNanos, used: owed } : null;
  };
  /** Moves a client's window to the end of the map. */
  const put = (client: string, window: Window): Window => {
    windows.delete(client);
    windows.set(client, window);
    return window;
  };
  /** Checks the first window: removes an ended one, unless its client owes something. */
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
    const current = windows.get(client);
    if (current !== undefined && current.endsAtNanos > nowNanos) return current;
    const owed = current === undefined ? null : owedAfter(current, nowNanos);
    if (owed !== null) return put(client, owed);
    windows.delete(client);
    // Each new window checks two old ones. So ended windows disappear, and no single request pays for all of them.
    tidy(nowNanos);
    tidy(nowNanos);
    if (windows.size >= maxClients) dropOldest();
    return put(client, { endsAtNanos: nowNanos + windowNanos, used: 0 });
  };
};

/**
 * Budgets in this process's memory, on a monotonic clock. Keeps at most `maxClients` clients per budget, about 200
 * bytes each. Beyond that, the client with the oldest window is dropped, which gives it a new budget early. IPv6
 * clients count by their /64.
 */
export const rateLimiterMemory = (options: {
  /** Points per window of each budget. */
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
          // A client that owes much waits for more than this window.
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
          const most = limits[budget] * (1 + MAX_OWED_WINDOWS);
          window.used = Math.max(0, Math.min(window.used + cost, most));
        }),
    });
  });
