import { Context, Data, Deferred, Duration, Effect, Exit, Layer, Schedule, Scope } from "effect";
import type { Deployment } from "../core/domain/ledger/deployment.ts";
import { networkIdOf, networkLeaf } from "../core/log/leaf/network-leaf.ts";
import { IndexReader } from "../ports/index-reader.ts";
import { type IndexBuild, IndexWriter } from "../ports/index-writer.ts";
import { Ledger } from "../ports/ledger.ts";
import { LogIdentity } from "../ports/log-identity.ts";
import { LogStore } from "../ports/log-store.ts";
import { OutcomeLog } from "../ports/outcome-log.ts";
import { StoreUnavailable } from "../ports/store-unavailable.ts";
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

const notOpen = () => new StoreUnavailable({ retryable: true, cause: "the store is not open yet" });

const ASK_AGAIN = Schedule.spaced(Duration.millis(250));

/** What is opened for one ledger. */
type Opened = IndexReader | IndexWriter | LogStore | OutcomeLog;
/** The stores of one ledger, and the identity of its log. */
export type Stores = Opened | LogIdentity;
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
  readonly deployment: Deployment;
  readonly open: (genesisHash: string) => Layer.Layer<Opened, E, R>;
  readonly refused: Deferred.Deferred<never, E | WrongLedger>;
  /** Why an open store can never be used again, undefined for any other failure. */
  readonly broken?: (store: StoreName, failure: StoreUnavailable) => E | undefined;
}): Layer.Layer<Stores, never, Ledger | R> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const scope = yield* Effect.scope;
      const services = yield* Effect.context<R>();
      let opened: Context.Context<Opened> | null = null;
      let logId: string | null = null;
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
        logId = networkIdOf(networkLeaf(genesisHash, options.deployment));
        yield* Effect.logInfo("the stores are open", { genesis_hash: genesisHash });
      });
      yield* open.pipe(
        Effect.catchCause((cause) => Deferred.failCause(options.refused, cause)),
        Effect.forkScoped,
      );

      const whenOpen =
        <S>(name: StoreName, storeIn: (stores: Context.Context<Opened>) => S) =>
        <A, N = never>(
          use: (store: S) => Effect.Effect<A, StoreUnavailable, N>,
        ): Effect.Effect<A, StoreUnavailable, N> =>
          Effect.suspend(() =>
            opened === null
              ? notOpen()
              : Effect.tapError(use(storeIn(opened)), (failure) => {
                  const refusal = options.broken?.(name, failure);
                  return refusal === undefined
                    ? Effect.void
                    : Deferred.fail(options.refused, refusal);
                }),
          );
      const read = whenOpen("index", Context.get(IndexReader));
      const written = whenOpen("index", Context.get(IndexWriter));
      const log = whenOpen("index", Context.get(LogStore));
      const logged = whenOpen("relay", Context.get(OutcomeLog));
      /** A build whose writes tell of a broken store as every other write does. */
      const guarded = (build: IndexBuild): IndexBuild => ({
        add: (rows) => written(() => build.add(rows)),
        leaves: (sink) => written(() => build.leaves(sink)),
        finish: (mark) => written(() => build.finish(mark)),
      });
      return Context.make(IndexReader, {
        escrows: (filter, limit, before) => read((index) => index.escrows(filter, limit, before)),
        escrowsAt: (addresses) => read((index) => index.escrowsAt(addresses)),
        events: (filter, limit, range) => read((index) => index.events(filter, limit, range)),
        merchants: (filter, limit, after) => read((index) => index.merchants(filter, limit, after)),
        sameNames: (name, except) => read((index) => index.sameNames(name, except)),
        summary: read((index) => index.summary),
      }).pipe(
        Context.add(IndexWriter, {
          apply: (changes) => written((index) => index.apply(changes)),
          merchantsAt: (addresses) => written((index) => index.merchantsAt(addresses)),
          unseen: (limit, after) => written((index) => index.unseen(limit, after)),
          build: Effect.map(
            written((index) => index.build),
            guarded,
          ),
        }),
        Context.add(LogStore, {
          leaves: (from, limit) => log((store) => store.leaves(from, limit)),
          tile: (path) => log((store) => store.tile(path)),
          keepTiles: (tiles) => log((store) => store.keepTiles(tiles)),
          standing: log((store) => store.standing),
          replaceStanding: (before, next) => log((store) => store.replaceStanding(before, next)),
        }),
        Context.add(LogIdentity, {
          id: Effect.suspend(() => (logId === null ? notOpen() : Effect.succeed(logId))),
        }),
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
