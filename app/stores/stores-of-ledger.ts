import { Context, Data, Deferred, Effect, Exit, Layer, Queue, Scope } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { address } from "../../core/domain/address.ts";
import { networkIdOf, networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { type IndexBuild, IndexWriter } from "../../ports/index/index-writer.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";
import { LedgerRecord } from "../../ports/ledger/ledger-record.ts";
import { LogIdentity } from "../../ports/log/log-signer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { OutcomeLog } from "../../ports/outcome-log.ts";
import {
  type StoreCorrupt,
  type StoreOfAnotherLedger,
  type StoreTooNew,
  StoreUnavailable,
} from "../../ports/index/store-refusal.ts";
import { type Cluster, clusterOfGenesis } from "../config/cluster.ts";
import { ASK_AGAIN, genesisOf, untilShown } from "./genesis-of-stores.ts";
import { hindranceLog } from "./hindrances.ts";

/** The ledger answers, but is not the configured one. Nothing may be served from it. */
export class WrongLedger extends Data.TaggedError("WrongLedger")<{
  readonly configured: Cluster;
  readonly found: Cluster;
}> {
  override get message() {
    return `the ledger is ${this.found} by its genesis hash, but ${this.configured} is configured; set SOLANA_CLUSTER or SOLANA_RPC_URL`;
  }
}

/** How stores cannot be opened, or cannot be used again. */
export type StoresRefused =
  | WrongLedger
  | StoreUnavailable
  | StoreTooNew
  | StoreOfAnotherLedger
  | StoreCorrupt;

/** Whether a failure may be temporary: the store is not reachable or busy. */
const isPassing = (failure: unknown): boolean =>
  failure instanceof StoreUnavailable && failure.retryable;

/** The name of one of the two stores. */
export type StoreName = "index" | "relay";

type Options<S, E, R> = {
  readonly cluster: Cluster;
  readonly deployment: Deployment;
  readonly open: (genesisHash: string) => Layer.Layer<S, E, R>;
  /** The genesis hash that the index has recorded, null when it has none or cannot be read. */
  readonly recorded: Effect.Effect<string | null, never, R>;
  /** Completes when the ledger or a store is the wrong one, or a store is damaged: waiting cannot help then. */
  readonly refused: Deferred.Deferred<never, E | WrongLedger>;
  /** Why an open store can never be used again, undefined for any other failure. */
  readonly broken?: (store: StoreName, failure: StoreUnavailable) => E | undefined;
  /** Runs once the stores are open. */
  readonly whenOpen?: Effect.Effect<void>;
  /** Learns, at each try, what keeps the stores from opening. By default that is logged. */
  readonly whenHindered?: (hindrance: StoreUnavailable) => Effect.Effect<void>;
  /** What keeps another thread from opening what these stores wait for. */
  readonly elsewhere?: Queue.Dequeue<StoreUnavailable>;
};

/** Stores that may not be open yet. */
type Opening<S> = {
  readonly use: <A, N = never>(
    name: StoreName,
    use: (stores: Context.Context<S>) => Effect.Effect<A, StoreUnavailable, N>,
  ) => Effect.Effect<A, StoreUnavailable, N>;
  readonly identity: LogIdentity["Service"];
};

/**
 * The stores of one ledger. A store belongs to one ledger. So it opens once it is reachable and the ledger is known: by
 * a node, or by what the index has recorded. Until then every use fails as retryable, while the rest of the service
 * already answers. A node of another ledger ends the service when it is the one to name the ledger, and is left alone
 * when the store did.
 */
const openStores = Effect.fnUntraced(function* <S, E, R>(options: Options<S, E, R>) {
  const scope = yield* Effect.scope;
  const services = yield* Effect.context<R | Ledger>();
  const record = yield* LedgerRecord;
  let opened: Context.Context<S> | null = null;
  let known: { readonly leaf: Uint8Array; readonly id: string } | null = null;
  let hindrance: StoreUnavailable | null = null;
  const { whenHindered = hindranceLog(), elsewhere } = options;
  const hinderedBy = (failure: StoreUnavailable) =>
    Effect.suspend(() => {
      hindrance = failure;
      return whenHindered(failure);
    });
  const notOpen = () => {
    const cause = "the store is not open yet";
    return new StoreUnavailable({ retryable: true, cause, fault: hindrance?.fault });
  };
  if (elsewhere !== undefined)
    yield* Queue.take(elsewhere).pipe(
      Effect.flatMap(hinderedBy),
      Effect.forever,
      Effect.forkScoped,
    );

  /** A failed attempt leaves nothing open. */
  const attempt = Effect.fnUntraced(function* (genesisHash: string) {
    const own = yield* Scope.fork(scope);
    return yield* Layer.buildWithScope(options.open(genesisHash), own).pipe(
      Effect.provide(services),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause))),
    );
  });
  const open = Effect.gen(function* () {
    const genesisHash = yield* genesisOf(options, hinderedBy);
    hindrance = null;
    const found = clusterOfGenesis(genesisHash);
    const { cluster } = options;
    if (found !== cluster) return yield* new WrongLedger({ configured: cluster, found });
    opened = yield* attempt(genesisHash).pipe(
      Effect.tapError((failure) =>
        failure instanceof StoreUnavailable && failure.retryable
          ? hinderedBy(failure)
          : Effect.void,
      ),
      Effect.retry({ schedule: ASK_AGAIN, while: isPassing }),
    );
    const leaf = networkLeaf(address(genesisHash), options.deployment.custodyProgram);
    known = { leaf, id: networkIdOf(leaf) };
    yield* options.whenOpen ?? Effect.logInfo("the stores are open", { genesis_hash: genesisHash });
    const { standing } = yield* record.state;
    if (standing !== "confirmed") yield* untilShown;
  });
  yield* open.pipe(
    Effect.provide(services),
    Effect.catchCause((cause) => Deferred.failCause(options.refused, cause)),
    Effect.forkScoped,
  );

  const identity = Effect.suspend(() => (known === null ? notOpen() : Effect.succeed(known)));
  const stores: Opening<S> = {
    use: (name, use) =>
      Effect.suspend(() =>
        opened === null
          ? notOpen()
          : Effect.tapError(use(opened), (failure) => {
              const refusal = options.broken?.(name, failure);
              return refusal === undefined ? Effect.void : Deferred.fail(options.refused, refusal);
            }),
      ),
    identity: {
      networkLeaf: Effect.map(identity, ({ leaf }) => leaf),
      id: Effect.map(identity, ({ id }) => id),
    },
  };
  return stores;
});

const indexReader = ({ use }: Opening<IndexReader>) => {
  const read = <A>(work: (index: IndexReader["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
    use("index", (stores) => work(Context.get(stores, IndexReader)));
  return Context.make(IndexReader, {
    escrows: (filter, limit, before) => read((index) => index.escrows(filter, limit, before)),
    escrowsAt: (addresses) => read((index) => index.escrowsAt(addresses)),
    escrowsOfHash: (hash, limit) => read((index) => index.escrowsOfHash(hash, limit)),
    events: (filter, limit, range) => read((index) => index.events(filter, limit, range)),
    merchants: (filter, limit, after) => read((index) => index.merchants(filter, limit, after)),
    sameNames: (name, except) => read((index) => index.sameNames(name, except)),
    summary: read((index) => index.summary),
  });
};

const indexWriter = ({ use }: Opening<IndexWriter>) => {
  const written = <A, N = never>(
    work: (index: IndexWriter["Service"]) => Effect.Effect<A, StoreUnavailable, N>,
  ) => use("index", (stores) => work(Context.get(stores, IndexWriter)));
  /** A build whose writes tell of a broken store as every other write does. */
  const guarded = (build: IndexBuild): IndexBuild => ({
    add: (rows) => written(() => build.add(rows)),
    leaves: (sink) => written(() => build.leaves(sink)),
    finish: (mark) => written(() => build.finish(mark)),
  });
  return Context.make(IndexWriter, {
    apply: (changes) => written((index) => index.apply(changes)),
    merchantsAt: (addresses) => written((index) => index.merchantsAt(addresses)),
    unseen: (limit, after) => written((index) => index.unseen(limit, after)),
    build: Effect.map(
      written((index) => index.build),
      guarded,
    ),
  });
};

const logStore = ({ use, identity }: Opening<LogStore>) => {
  const log = <A, N = never>(
    work: (store: LogStore["Service"]) => Effect.Effect<A, StoreUnavailable, N>,
  ) => use("index", (stores) => work(Context.get(stores, LogStore)));
  return Context.make(LogStore, {
    leaves: (from, limit) => log((store) => store.leaves(from, limit)),
    tile: (path) => log((store) => store.tile(path)),
    keepTiles: (tiles) => log((store) => store.keepTiles(tiles)),
    standing: log((store) => store.standing),
    isWriter: log((store) => store.isWriter),
    replaceStanding: (before, next) => log((store) => store.replaceStanding(before, next)),
  }).pipe(Context.add(LogIdentity, identity));
};

const outcomeLog = ({ use }: Opening<OutcomeLog>) => {
  const logged = <A>(work: (log: OutcomeLog["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
    use("relay", (stores) => work(Context.get(stores, OutcomeLog)));
  return Context.make(OutcomeLog, {
    open: (entry) => logged((log) => log.open(entry)),
    tryOpen: (entry) => logged((log) => log.tryOpen(entry)),
    resolve: (signature, outcome) => logged((log) => log.resolve(signature, outcome)),
    find: (signature) => logged((log) => log.find(signature)),
    unresolved: (limit) => logged((log) => log.unresolved(limit)),
    claimKey: (use) => logged((log) => log.claimKey(use)),
    answerKey: (use, answer) => logged((log) => log.answerKey(use, answer)),
  });
};

/** What the service answers from, and the relay's log. */
type Served = IndexReader | LogStore | OutcomeLog;
/** What the syncs write and read. */
type Synced = IndexReader | IndexWriter | LogStore;

/** The stores that the service answers from, of an index that is written elsewhere. */
export const servedStores = <E, R = never>(
  options: Options<Served, E, R>,
): Layer.Layer<Served | LogIdentity, never, Ledger | R> =>
  Layer.effectContext(
    Effect.map(openStores(options), (stores) =>
      indexReader(stores).pipe(Context.merge(logStore(stores)), Context.merge(outcomeLog(stores))),
    ),
  );

/** The stores that the syncs need, and nothing of the relay. */
export const syncedStores = <E, R = never>(
  options: Options<Synced, E, R>,
): Layer.Layer<Synced | LogIdentity, never, Ledger | R> =>
  Layer.effectContext(
    Effect.map(openStores(options), (stores) =>
      indexReader(stores).pipe(Context.merge(logStore(stores)), Context.merge(indexWriter(stores))),
    ),
  );

/** All stores, of a process whose one thread serves and syncs. */
export const storesOfLedger = <E, R = never>(
  options: Options<Served | Synced, E, R>,
): Layer.Layer<Served | Synced | LogIdentity, never, Ledger | R> =>
  Layer.effectContext(
    Effect.map(openStores(options), (stores) =>
      indexReader(stores).pipe(
        Context.merge(logStore(stores)),
        Context.merge(indexWriter(stores)),
        Context.merge(outcomeLog(stores)),
      ),
    ),
  );
