import { Data, Deferred, Duration, Effect, Layer, Schedule } from "effect";
import { EscrowIndex, StoreUnavailable } from "../ports/escrow-index.ts";
import { Ledger } from "../ports/ledger.ts";
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

const ASK_AGAIN = Schedule.spaced(Duration.millis(250));

/**
 * The index of whichever ledger the nodes turn out to hold. A store belongs to one ledger, so it is
 * opened once a node has told the genesis hash; until then every method fails as retryable, and the
 * rest of the service already answers. `refused` is completed when the store or the ledger is the
 * wrong one, which no waiting can mend.
 */
export const escrowIndexOfLedger = <E>(options: {
  readonly cluster: Cluster;
  readonly open: (genesisHash: string) => Layer.Layer<EscrowIndex, E>;
  readonly refused: Deferred.Deferred<never, E | WrongLedger>;
}): Layer.Layer<EscrowIndex, never, Ledger> =>
  Layer.effect(
    EscrowIndex,
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const scope = yield* Effect.scope;
      let opened: EscrowIndex["Service"] | null = null;

      const open = Effect.gen(function* () {
        // The schedule never ends, so no failure comes through.
        const genesisHash = yield* Effect.orDie(Effect.retry(ledger.genesisHash, ASK_AGAIN));
        const found = clusterOfGenesis(genesisHash);
        const { cluster } = options;
        if (found !== cluster) return yield* new WrongLedger({ configured: cluster, found });
        const services = yield* Layer.buildWithScope(options.open(genesisHash), scope);
        opened = yield* Effect.provide(EscrowIndex, services);
        yield* Effect.logInfo("the store is open", { genesis_hash: genesisHash });
      });
      yield* open.pipe(
        Effect.catchCause((cause) => Deferred.failCause(options.refused, cause)),
        Effect.forkScoped,
      );

      const whenOpen = <A>(
        use: (index: EscrowIndex["Service"]) => Effect.Effect<A, StoreUnavailable>,
      ): Effect.Effect<A, StoreUnavailable> =>
        Effect.suspend(() =>
          opened === null
            ? new StoreUnavailable({ retryable: true, cause: "no node has told its genesis hash" })
            : use(opened),
        );
      return EscrowIndex.of({
        apply: (batch) => whenOpen((index) => index.apply(batch)),
        escrows: (filter, limit, after) => whenOpen((index) => index.escrows(filter, limit, after)),
        events: (filter, limit, before) => whenOpen((index) => index.events(filter, limit, before)),
        eventsAfter: (filter, limit, after) =>
          whenOpen((index) => index.eventsAfter(filter, limit, after)),
        eventsWithoutReference: (limit, after) =>
          whenOpen((index) => index.eventsWithoutReference(limit, after)),
        merchants: (filter, limit, after) =>
          whenOpen((index) => index.merchants(filter, limit, after)),
        summary: whenOpen((index) => index.summary),
      });
    }),
  );
