import { Context, Data, Deferred, Duration, Effect, Exit, Layer, Schedule, Scope } from "effect";
import { EscrowIndex, StoreUnavailable } from "../ports/escrow-index.ts";
import { Ledger } from "../ports/ledger.ts";
import { OutcomeLog } from "../ports/outcome-log.ts";
import { type Cluster, clusterOfGenesis } from "./config/cluster.ts";

/** The ledger answers, but is not the configured one. Nothing may be served from it. */
export class WrongLedger extends Data.TaggedError("WrongLedger")<{
  readonly configured: Cluster;
  readonly found: Cluster;
}> {
  override get message() {
    return `the ledger is ${this.found} by its genesis hash, but ${this.configured} is configured; set SOLANA_CLUSTER or SOLANA_RPC_URL`;
  }
}

/** Whether a failure may be temporary: the store is not reachable or busy. */
const isPassing = (failure: unknown): boolean =>
  failure instanceof StoreUnavailable && failure.retryable;

const ASK_AGAIN = Schedule.spaced(Duration.millis(250));

/** The stores of one ledger. */
type Stores = EscrowIndex | OutcomeLog;
/** The name of one of the two stores. */
export type StoreName = "index" | "relay";

/**
 * The index and the relay's log of the nodes' ledger. A store belongs to one ledger. So it opens once a node has shown
 * the genesis hash and the store is reachable. Until then every method fails as retryable, while the rest of the
 * service already answers. `refused` completes when the ledger or a store is the wrong one, or a store is damaged:
 * waiting cannot help then.
 */
export const storesOfLedger = <E, R = never>(options: {
  readonly cluster: Cluster;
  readonly open: (genesisHash: string) => Layer.Layer<Stores, E, R>;
  readonly refused: Deferred.Deferred<never, E | WrongLedger>;
  /** Why an open store can never be used again, undefined for any other failure. */
  readonly broken?: (store: StoreName, failure: StoreUnavailable) => E | undefined;
}): Layer.Layer<Stores, never, Ledger | R> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const scope = yield* Effect.scope;
      const services = yield* Effect.context<R>();
      let opened: Context.Context<Stores> | null = null;
      let tried = false;

      /** A failed attempt leaves nothing open. */
      const attempt = Effect.fnUntraced(function* (genesisHash: string) {
        const own = yield* Scope.fork(scope);
        return yield* Layer.buildWithScope(options.open(genesisHash), own).pipe(
          Effect.provide(services),
          Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
        );
      });
      const tellOnce = (failure: E) => {
        const known = tried;
        tried = true;
        return known || !isPassing(failure)
          ? Effect.void
          : Effect.logWarning("the stores cannot be opened; trying again");
      };

      const open = Effect.gen(function* () {
        // The schedule never ends, so the effect never fails.
        const genesisHash = yield* Effect.orDie(Effect.retry(ledger.genesisHash, ASK_AGAIN));
        const found = clusterOfGenesis(genesisHash);
        const { cluster } = options;
        if (found !== cluster) return yield* new WrongLedger({ configured: cluster, found });
        opened = yield* attempt(genesisHash).pipe(
          Effect.tapError(tellOnce),
          Effect.retry({ schedule: ASK_AGAIN, while: isPassing }),
        );
        yield* Effect.logInfo("the stores are open", { genesis_hash: genesisHash });
      });
      yield* open.pipe(
        Effect.catchCause((cause) => Deferred.failCause(options.refused, cause)),
        Effect.forkScoped,
      );

      const whenOpen =
        <S>(name: StoreName, storeIn: (stores: Context.Context<Stores>) => S) =>
        <A>(
          use: (store: S) => Effect.Effect<A, StoreUnavailable>,
        ): Effect.Effect<A, StoreUnavailable> =>
          Effect.suspend(() =>
            opened === null
              ? new StoreUnavailable({
                  retryable: true,
                  cause: "the store is not open yet",
                })
              : Effect.tapError(use(storeIn(opened)), (failure) => {
                  const refusal = options.broken?.(name, failure);
                  return refusal === undefined
                    ? Effect.void
                    : Deferred.fail(options.refused, refusal);
                }),
          );
      const indexed = whenOpen("index", Context.get(EscrowIndex));
      const logged = whenOpen("relay", Context.get(OutcomeLog));
      return Context.make(EscrowIndex, {
        apply: (batch) => indexed((index) => index.apply(batch)),
        escrows: (filter, limit, after) => indexed((index) => index.escrows(filter, limit, after)),
        escrowsAt: (addresses) => indexed((index) => index.escrowsAt(addresses)),
        events: (filter, limit, before) => indexed((index) => index.events(filter, limit, before)),
        eventsAfter: (filter, limit, after) =>
          indexed((index) => index.eventsAfter(filter, limit, after)),
        eventsWithoutReference: (limit, after) =>
          indexed((index) => index.eventsWithoutReference(limit, after)),
        eventsOfEscrow: (escrow) => indexed((index) => index.eventsOfEscrow(escrow)),
        merchants: (filter, limit, after) =>
          indexed((index) => index.merchants(filter, limit, after)),
        sameNames: (name, except) => indexed((index) => index.sameNames(name, except)),
        summary: indexed((index) => index.summary),
        revision: indexed((index) => index.revision),
      }).pipe(
        Context.add(OutcomeLog, {
          open: (entry) => logged((log) => log.open(entry)),
          resolve: (signature, outcome) => logged((log) => log.resolve(signature, outcome)),
          find: (signature) => logged((log) => log.find(signature)),
          unresolved: (limit) => logged((log) => log.unresolved(limit)),
          claimKey: (use) => logged((log) => log.claimKey(use)),
          answerKey: (use, answer) => logged((log) => log.answerKey(use, answer)),
        }),
      );
    }),
  );
