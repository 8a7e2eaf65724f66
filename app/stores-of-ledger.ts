import { Context, Data, Deferred, Duration, Effect, Exit, Layer, Schedule, Scope } from "effect";
import { EscrowIndex, StoreUnavailable } from "../ports/escrow-index.ts";
import { Ledger } from "../ports/ledger.ts";
import { OutcomeLog } from "../ports/outcome-log.ts";
import { type Cluster, clusterOfGenesis } from "./config/cluster.ts";

/** The ledger answers, but is not the one that was configured; nothing may be served from it. */
export class WrongLedger extends Data.TaggedError("WrongLedger")<{
  readonly configured: Cluster;
  readonly found: Cluster;
}> {
  override get message() {
    return `the ledger is ${this.found} by its genesis hash, but ${this.configured} is configured; set SOLANA_CLUSTER or SOLANA_RPC_URL`;
  }
}

/** A store that is away or busy, now. */
const isPassing = (failure: unknown): boolean =>
  failure instanceof StoreUnavailable && failure.retryable;

const ASK_AGAIN = Schedule.spaced(Duration.millis(250));

/** What belongs to one ledger. */
type Stores = EscrowIndex | OutcomeLog;
/** Which of the two. */
export type StoreName = "index" | "relay";

/**
 * The index and the relay's log of whichever ledger the nodes turn out to hold. A store belongs to one
 * ledger, so it is opened once a node has told the genesis hash and the store is there; until then every method fails
 * as retryable, and the rest of the service already answers. `refused` is completed when a store or the
 * ledger is the wrong one, or a store turns out to be damaged, which no waiting can mend.
 */
export const storesOfLedger = <E, R = never>(options: {
  readonly cluster: Cluster;
  readonly open: (genesisHash: string) => Layer.Layer<Stores, E, R>;
  readonly refused: Deferred.Deferred<never, E | WrongLedger>;
  /** Why an open store can no longer be used at all, undefined when its failure says no such thing. */
  readonly broken?: (store: StoreName, failure: StoreUnavailable) => E | undefined;
}): Layer.Layer<Stores, never, Ledger | R> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const scope = yield* Effect.scope;
      const services = yield* Effect.context<R>();
      let opened: Context.Context<Stores> | null = null;
      let tried = false;

      /** One attempt leaves nothing open when it fails. */
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
          : Effect.logWarning("the stores cannot be opened, and are tried again");
      };

      const open = Effect.gen(function* () {
        // The schedule never ends, so no failure comes through.
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
        events: (filter, limit, before) => indexed((index) => index.events(filter, limit, before)),
        eventsAfter: (filter, limit, after) =>
          indexed((index) => index.eventsAfter(filter, limit, after)),
        eventsWithoutReference: (limit, after) =>
          indexed((index) => index.eventsWithoutReference(limit, after)),
        eventsOfEscrow: (escrow) => indexed((index) => index.eventsOfEscrow(escrow)),
        merchants: (filter, limit, after) =>
          indexed((index) => index.merchants(filter, limit, after)),
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
