import { Effect, Exit, Layer, Logger, Redacted, Scope } from "effect";
import { snapshotSpoolFile } from "../../adapters/files/snapshot-spool.ts";
import { ledgerArchiveSolanaRpc } from "../../adapters/solana-rpc/history/ledger-archive-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { ledgerNodesSolanaRpc } from "../../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import {
  solanaRpcConfig,
  type SolanaRpcConfig,
} from "../../adapters/solana-rpc/pool/pool-config.ts";
import { indexSqlite } from "../../adapters/sqlite/index-store.ts";
import { type Deployment, NO_PINS } from "../../core/domain/ledger/deployment.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { IndexSync, makeIndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { Instance } from "../../ports/instance.ts";
import { LedgerArchive } from "../../ports/ledger/ledger-archive.ts";
import { AskAnotherNode, Ledger, LedgerNodes, NodeCount } from "../../ports/ledger/ledger.ts";
import { nothingKept } from "../doubles/nothing-kept.ts";
import { usdc } from "../core/use-cases/test-instance.ts";
import { walletOf, WORLD_MINT } from "./world-escrow.ts";

/** Wraps one port before the use cases get it. */
export type Wrap<Service> = (service: Service) => Service;

const instanceOf = (deployment: Deployment) =>
  Instance.of({
    deployment,
    programPins: NO_PINS,
    cluster: "localnet",
    runsLedger: false,
    networkAddress: "http://127.0.0.1",
    supportedMints: [usdc(WORLD_MINT)],
    enforceBetaLimits: false,
    version: "0.0.0",
    revision: null,
    startedAtMs: 0,
    syncsByItself: true,
    confirmTimeoutMs: 0,
  });

/** The ledger of the simulated world's nodes. */
export const WORLD_LEDGER = { genesisHash: walletOf("genesis"), deployment: LOCAL_DEPLOYMENT };

type Options = {
  readonly url: string;
  /** Other nodes of the ledger, asked after the first. */
  readonly others?: ReadonlyArray<string>;
  /** Waits of the nodes' pool that differ from the service's. */
  readonly waits?: Partial<
    Pick<SolanaRpcConfig, "backoffBaseMs" | "backoffCapMs" | "retryAfterCapMs">
  >;
  /** How long nodes that are behind are waited for, milliseconds; as long as the service does unless it is said. */
  readonly behindPatienceMs?: number;
  /** The ledger that the index is of; that of the simulated world unless it is said. */
  readonly genesisHash?: string;
  /** The programs that the index is of; those of the simulated world unless they are said. */
  readonly deployment?: Deployment;
  readonly ledger?: Wrap<Ledger["Service"]>;
  readonly reader?: Wrap<IndexReader["Service"]>;
  readonly writer?: Wrap<IndexWriter["Service"]>;
  /** The file that keeps an unfinished snapshot; without one nothing is kept. */
  readonly spool?: string;
  readonly log?: Wrap<LogStore["Service"]>;
};

/** The syncs of an index that no other process shares. */
export const INDEX_SYNC = Layer.effect(IndexSync, makeIndexSync());

/**
 * The SQLite index at a path, synced over JSON-RPC from a node, of the simulated world unless the options say another
 * ledger.
 */
export const openIndexOfNode = ({ path, ...options }: Options & { readonly path: string }) => {
  const { genesisHash, deployment } = { ...WORLD_LEDGER, ...options };
  const store = indexSqlite({ genesisHash, deployment, path, logFolder: `${path}.log` });
  return openIndex(options, store, INDEX_SYNC);
};

/** An index in any store, synced by `sync` over JSON-RPC from a node of the simulated world. */
export const openIndex = async <E>(
  options: Options,
  store: Layer.Layer<IndexReader | IndexWriter | LogStore, E>,
  sync: Layer.Layer<
    IndexSync,
    E,
    | IndexReader
    | IndexWriter
    | LogStore
    | Ledger
    | LedgerArchive
    | LedgerNodes
    | Instance
    | Layer.Success<typeof nothingKept>
  >,
) => {
  const same = <A>(service: A): A => service;
  const secret = (url: string) => Redacted.make(new URL(url));
  const urls = [secret(options.url), ...(options.others ?? []).map(secret)] as const;
  const { genesisHash, deployment } = { ...WORLD_LEDGER, ...options };
  const usual = solanaRpcConfig(urls);
  const patience =
    options.behindPatienceMs === undefined ? {} : { behindPatienceMs: options.behindPatienceMs };
  const pools = {
    single: { ...usual.pools.single, ...patience },
    bulk: { ...usual.pools.bulk, ...patience },
  };
  const config = { ...usual, pools, genesisHash, ...options.waits };
  const solana = Layer.provide(
    Layer.mergeAll(ledgerSolanaRpc, ledgerNodesSolanaRpc, ledgerArchiveSolanaRpc),
    nodePool(config),
  );
  const ports = Layer.mergeAll(
    Layer.mergeAll(
      Layer.effect(IndexReader, Effect.map(IndexReader, options.reader ?? same)),
      Layer.effect(IndexWriter, Effect.map(IndexWriter, options.writer ?? same)),
      Layer.effect(LogStore, Effect.map(LogStore, options.log ?? same)),
    ).pipe(Layer.provide(store)),
    Layer.effect(Ledger, Effect.map(Ledger, options.ledger ?? same)).pipe(
      Layer.provideMerge(Layer.effect(LedgerArchive, LedgerArchive)),
      Layer.provide(solana),
    ),
    Layer.effect(LedgerNodes, LedgerNodes).pipe(Layer.provide(solana)),
    Layer.effect(AskAnotherNode, AskAnotherNode).pipe(Layer.provide(solana)),
    Layer.effect(NodeCount, NodeCount).pipe(Layer.provide(solana)),
    Layer.succeed(Instance, instanceOf(deployment)),
    Logger.layer([]),
  );
  const scope = await Effect.runPromise(Scope.make());
  const kept =
    options.spool === undefined
      ? nothingKept
      : Layer.merge(
          nothingKept,
          Layer.provide(snapshotSpoolFile(options.spool, deployment), ports),
        );
  const services = await Effect.runPromise(
    Layer.buildWithScope(sync.pipe(Layer.provide(kept), Layer.provideMerge(ports)), scope),
  );
  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof ports> | IndexSync>) =>
    Effect.runPromiseExit(Effect.provide(effect, services));
  return {
    run,
    /** Runs an effect that ends only when the signal aborts it. */
    runUntil: <A, E>(
      effect: Effect.Effect<A, E, IndexSync | IndexReader | IndexWriter | Ledger>,
      signal: AbortSignal,
    ) => Effect.runPromiseExit(Effect.provide(effect, services), { signal }),
    /** The exit of a sync. */
    sync: () => run(Effect.flatMap(IndexSync, (sync) => sync.request)),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};
