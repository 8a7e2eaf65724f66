import { Clock, Context, Effect, type Scope } from "effect";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { Blockspace, type RecentBlockhash } from "../../../ports/ledger/blockspace.ts";
import { Instance } from "../../../ports/instance.ts";
import type { LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { makeSingleFlight } from "../single-flight.ts";

/** The terms that all transactions prepared within some seconds share. */
export type SharedTerms = RecentBlockhash & {
  /**
   * Micro-lamports for a compute unit, at most the relay's maximum. Most recent transactions on the custody config paid
   * at most this.
   */
  readonly usualPrice: bigint;
  /** The highest of those prices, for transactions that must land soon. */
  readonly urgentPrice: bigint;
};

/** How long a blockhash is shared, milliseconds; it is good for about a minute. */
const SHARED_MS = 5000;
/** How long prices are shared, milliseconds. Whoever signs may take as long. */
const PRICES_SHARED_MS = 60_000;
/**
 * How long a blockhash is known to be good without asking, milliseconds: 150 blocks of 200 ms each, half of what a block
 * takes.
 */
const KNOWN_MS = 30_000;

/**
 * What a node told of a blockhash with which this process prepared transactions lately; null for any other. Whoever
 * sends one back need not wait for what is known.
 */
export const KnownBlockhashes = Context.Reference<
  (blockhash: string) => Effect.Effect<RecentBlockhash | null>
>("settlement-evidence/core/use-cases/KnownBlockhashes", {
  defaultValue: () => () => Effect.succeed(null),
});

/**
 * The live blockhash and price for prepared transactions. The node is asked for a blockhash every five seconds at most,
 * and for prices once a minute.
 */
export class TransactionTerms extends Context.Service<
  TransactionTerms,
  { readonly read: Effect.Effect<SharedTerms, LedgerFailure> }
>()("settlement-evidence/core/use-cases/TransactionTerms") {}

const capped = (price: bigint): bigint =>
  price > RELAY_POLICY.maxComputeUnitPrice ? RELAY_POLICY.maxComputeUnitPrice : price;

/** The 75th percentile of recent prices, and the highest; both 0 without any. */
const pricesOf = (recent: ReadonlyArray<bigint>) => {
  const sorted = recent.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return {
    usualPrice: capped(sorted[Math.floor((sorted.length - 1) * 0.75)] ?? 0n),
    urgentPrice: capped(sorted.at(-1) ?? 0n),
  };
};

/** A value and when it was asked for, milliseconds. */
type Dated<A> = { readonly value: A; readonly atMs: number };

/** Whether a value is younger than `ms`. A negative age means that the clock was set back: it is then read again. */
const isFresh = ({ atMs }: Dated<unknown>, nowMs: number, ms: number): boolean =>
  nowMs - atMs >= 0 && nowMs - atMs < ms;

const fresh = <A>(held: Dated<A> | undefined, nowMs: number, ms: number): A | undefined =>
  held !== undefined && isFresh(held, nowMs, ms) ? held.value : undefined;

/** The process's one `TransactionTerms`, and the `KnownBlockhashes` of what it read. */
export const makeTransactionTerms = Effect.gen(function* () {
  const blockspace = yield* Blockspace;
  const { deployment } = yield* Instance;
  const scope: Scope.Scope = yield* Effect.scope;
  const flight = makeSingleFlight<SharedTerms, LedgerFailure>(scope);
  const config = custodyConfigAddress(deployment).address;
  let blockhash: Dated<RecentBlockhash> | undefined;
  let prices: Dated<ReturnType<typeof pricesOf>> | undefined;
  /** Oldest first. */
  let known: ReadonlyArray<Dated<RecentBlockhash>> = [];
  const askBlockhash = Effect.gen(function* () {
    // An answer is as old as its question.
    const atMs = yield* Clock.currentTimeMillis;
    const value = yield* blockspace.latestBlockhash;
    blockhash = { value, atMs };
    known = [...known.filter((one) => isFresh(one, atMs, KNOWN_MS)), blockhash];
    return value;
  });
  const askPrices = Effect.gen(function* () {
    const value = pricesOf(yield* blockspace.recentPrices(config));
    prices = { value, atMs: yield* Clock.currentTimeMillis };
    return value;
  });
  const ask = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis;
    const heldBlockhash = fresh(blockhash, nowMs, SHARED_MS);
    const heldPrices = fresh(prices, nowMs, PRICES_SHARED_MS);
    const [recent, price] = yield* Effect.all(
      [
        heldBlockhash === undefined ? askBlockhash : Effect.succeed(heldBlockhash),
        heldPrices === undefined ? askPrices : Effect.succeed(heldPrices),
      ],
      { concurrency: "unbounded" },
    );
    const terms: SharedTerms = { ...recent, ...price };
    return terms;
  });
  return {
    read: Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis;
      const recent = fresh(blockhash, nowMs, SHARED_MS);
      const price = fresh(prices, nowMs, PRICES_SHARED_MS);
      if (recent !== undefined && price !== undefined) return { ...recent, ...price };
      return yield* flight("terms", ask);
    }).pipe(Effect.withSpan("readTransactionTerms")),
    known: (asked: string) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const told = known.find(({ value }) => value.blockhash === asked);
        return fresh(told, nowMs, KNOWN_MS) ?? null;
      }),
  };
});
