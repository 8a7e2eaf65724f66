import { Clock, Context, Effect, type Scope } from "effect";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { Blockspace, type RecentBlockhash } from "../../../ports/ledger/blockspace.ts";
import { Instance } from "../../../ports/instance.ts";
import type { LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { makeSingleFlight } from "../single-flight.ts";

/** The terms that all transactions prepared in the same second share. */
export type SharedTerms = RecentBlockhash & {
  /**
   * Micro-lamports for a compute unit, at most the relay's maximum. Most recent transactions on the custody config paid
   * at most this.
   */
  readonly usualPrice: bigint;
  /** The highest of those prices, for transactions that must land soon. */
  readonly urgentPrice: bigint;
};

/** How long an answer of the node is shared, milliseconds; a blockhash is good for about a minute. */
const SHARED_MS = 1000;

/** The live blockhash and price for prepared transactions, asked of the node once a second at most. */
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

/** The process's one `TransactionTerms`. */
export const makeTransactionTerms = Effect.gen(function* () {
  const blockspace = yield* Blockspace;
  const { deployment } = yield* Instance;
  const scope: Scope.Scope = yield* Effect.scope;
  const flight = makeSingleFlight<SharedTerms, LedgerFailure>(scope);
  const config = custodyConfigAddress(deployment).address;
  let latest: { readonly terms: SharedTerms; readonly atMs: number } | undefined;
  const ask = Effect.gen(function* () {
    const [blockhash, prices] = yield* Effect.all(
      [blockspace.latestBlockhash, blockspace.recentPrices(config)],
      { concurrency: "unbounded" },
    );
    const terms: SharedTerms = { ...blockhash, ...pricesOf(prices) };
    latest = { terms, atMs: yield* Clock.currentTimeMillis };
    return terms;
  });
  return TransactionTerms.of({
    read: Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis;
      const age = latest === undefined ? SHARED_MS : nowMs - latest.atMs;
      // A negative age means that the clock was set back. The value is then read again.
      if (latest !== undefined && age >= 0 && age < SHARED_MS) return latest.terms;
      return yield* flight("terms", ask);
    }).pipe(Effect.withSpan("readTransactionTerms")),
  });
});
