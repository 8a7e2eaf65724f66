import { Deferred, Duration, Effect, Layer, Redacted, Schedule } from "effect";
import type { Address } from "../core/domain/address.ts";
import type { Deployment } from "../core/domain/ledger/deployment.ts";
import { LOCAL_DEPLOYMENT } from "../core/protocol/addresses/local-deployment.ts";
import { IndexSync, makeIndexSync } from "../core/use-cases/index/sync/index-sync.ts";
import { makeReplicatedIndexSync } from "../core/use-cases/index/sync/replicated-index-sync.ts";
import { ArchivedEscrows, makeArchivedEscrows } from "../core/use-cases/escrow/archived-escrows.ts";
import { makeRelayDelivery, RelayDelivery } from "../core/use-cases/relay/relay-delivery.ts";
import { LogProofs } from "../core/use-cases/log/log-proofs.ts";
import { makeLogProofs } from "../core/use-cases/log/make-log-proofs.ts";
import { LedgerPulse, makeLedgerPulse } from "../core/use-cases/service/ledger-pulse.ts";
import { makeRecentPages, RecentPages } from "../core/use-cases/index/recent-pages.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../core/use-cases/evidence/settled-evidence.ts";
import {
  makeTransactionTerms,
  TransactionTerms,
} from "../core/use-cases/service/transaction-terms.ts";
import type { HttpServices } from "../adapters/http/server/http-services.ts";
import { rateLimiterMemory } from "../adapters/memory/rate-limiter.ts";
import { indexPostgres } from "../adapters/postgres/index-store.ts";
import { outcomeLogPostgres } from "../adapters/postgres/outcome-log.ts";
import { postgresStore } from "../adapters/postgres/postgres-store.ts";
import { syncLeasePostgres } from "../adapters/postgres/sync-lease.ts";
import { evidenceSignerFromText, evidenceSignerNone } from "../adapters/signer/evidence-signer.ts";
import {
  evidenceSignerFromFile,
  evidenceSignerGenerated,
} from "../adapters/signer/evidence-signer-file.ts";
import { blockspaceSolanaRpc } from "../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../adapters/solana-rpc/pool/node-pool.ts";
import { ledgerNodesSolanaRpc } from "../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { witnessClientHttp } from "../adapters/witness-http/witness-client.ts";
import { LogPublisher } from "../core/use-cases/log/log-publisher.ts";
import { makeSettlementLog, SettlementLog } from "../core/use-cases/log/published-log.ts";
import { logPublisher, logSigner, type LogWitnessesUnusable } from "./log-services.ts";
import { USDC_MINTS } from "./config/supported-mints.ts";
import { redactedRpcAddress } from "../adapters/solana-rpc/transport/redacted-rpc-address.ts";
import { solanaRpcConfig } from "../adapters/solana-rpc/pool/solana-rpc-config.ts";
import { indexSqlite } from "../adapters/sqlite/index-store.ts";
import { outcomeLogSqlite } from "../adapters/sqlite/relay/outcome-log.ts";
import { isDamage } from "../adapters/sqlite/store-failure.ts";
import type { LogRefused } from "../core/use-cases/log/open-log.ts";
import { type LogKeyUnusable, LogSigner } from "../ports/log-signer.ts";
import type { StoreUnavailable } from "../ports/store-unavailable.ts";
import type { IndexReader } from "../ports/index-reader.ts";
import type { IndexWriter } from "../ports/index-writer.ts";
import type { LogStore } from "../ports/log-store.ts";
import { type EvidenceKeyUnusable, EvidenceSigner } from "../ports/evidence-signer.ts";
import type { WitnessUnusable } from "../ports/witness-key.ts";
import { Instance } from "../ports/instance.ts";
import type { Ledger } from "../ports/ledger.ts";
import {
  StoreCorrupt,
  type StoreOfAnotherLedger,
  type StoreTooNew,
} from "../ports/store-refusal.ts";
import { checkMints, type MintDecimalsDiffer } from "./check-mints.ts";
import packageJson from "../package.json" with { type: "json" };
import type { Cluster } from "./config/cluster.ts";
import type { RpcUrls, Settings } from "./config/settings.ts";
import { noWitness, witnessLayer } from "./witness-layer.ts";
import type { Witness } from "../core/use-cases/witness/witness.ts";
import { sourceRevision } from "./source-revision.ts";
import {
  storesOfLedger,
  type StoreName,
  type Stores,
  type WrongLedger,
} from "./stores-of-ledger.ts";

/** The settings of one instance, and the facts that its start has found. */
export type StartedInstance = {
  readonly settings: Settings;
  /** Absolute. */
  readonly dataDir: string;
  readonly rpcUrls: RpcUrls;
  readonly startedAtMs: number;
};

/** How a store cannot be opened, at start or later. */
export type IndexRefused =
  | WrongLedger
  | MintDecimalsDiffer
  | LogRefused
  | StoreUnavailable
  | StoreTooNew
  | StoreOfAnotherLedger
  | StoreCorrupt;

/** How long `confirm` waits on the relay. Most blockhashes expire after a minute. */
const CONFIRM_TIMEOUT_MS = 30_000;

/** Clients whose budgets are kept. Each of four budgets takes about 200 bytes, 40 MB at most in all. */
const MAX_RATE_LIMITED_CLIENTS = 50_000;

/** The programs of the ledger that is configured. */
export const deploymentOf = ({ ledger }: Pick<Settings, "ledger">): Deployment =>
  ledger.kind === "remote" ? ledger.deployment : LOCAL_DEPLOYMENT;

/** The programs whose transactions change the index. */
export const programsOf = (settings: Settings): ReadonlyArray<Address> => {
  const { custodyProgram, attestorProgram } = deploymentOf(settings);
  return [custodyProgram, attestorProgram];
};

/** The cluster that is configured; the embedded ledger is a localnet. */
export const clusterOf = ({ ledger }: Pick<Settings, "ledger">): Cluster =>
  ledger.kind === "remote" ? ledger.cluster : "localnet";

/** The file of a store in the data directory. */
export const storePath = (dataDir: string, store: StoreName): string =>
  `${dataDir}/${store}.sqlite`;

const instance = ({ settings, rpcUrls, startedAtMs }: StartedInstance): Layer.Layer<Instance> =>
  Layer.sync(Instance, () =>
    Instance.of({
      deployment: deploymentOf(settings),
      cluster: clusterOf(settings),
      networkAddress: redactedRpcAddress(Redacted.value(rpcUrls[0])),
      supportedMints: settings.supportedMints ?? USDC_MINTS[clusterOf(settings)],
      enforceBetaLimits: settings.enforceBetaLimits,
      version: packageJson.version,
      revision: sourceRevision(),
      startedAtMs,
      confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
    }),
  );

/** A key is generated only for play money. Otherwise the operator must configure one. */
const evidenceSigner = ({
  settings,
  dataDir,
}: StartedInstance): Layer.Layer<EvidenceSigner, EvidenceKeyUnusable> => {
  const { evidenceKey, evidenceKeyFile, evidenceRetiredKeys, ledger } = settings;
  if (evidenceKey !== null) return evidenceSignerFromText(evidenceKey, evidenceRetiredKeys);
  if (evidenceKeyFile !== null) return evidenceSignerFromFile(evidenceKeyFile, evidenceRetiredKeys);
  return ledger.kind === "embedded"
    ? evidenceSignerGenerated(dataDir, evidenceRetiredKeys)
    : evidenceSignerNone(evidenceRetiredKeys);
};

/** The folder of the log's full tiles in the data directory. */
export const logFolder = (dataDir: string): string => `${dataDir}/log`;

/** Syncs that tell the log's publisher how far the index is complete. */
const publishingSync = Effect.flatMap(LogPublisher, ({ grown }) => makeIndexSync(grown));
/** The keys that sign or have signed evidence, for the comparison with the other keys. */
const evidenceKeys = ({ current, former }: EvidenceSigner["Service"]) => [
  ...(current === null ? [] : [{ setting: "the evidence key", publicKey: current.publicKey }]),
  ...former.map(({ publicKey }) => ({ setting: "EVIDENCE_RETIRED_KEYS", publicKey })),
];

/** The witness that is configured, or none. */
const witness = ({
  settings,
  dataDir,
}: StartedInstance): Layer.Layer<Witness, WitnessUnusable, Ledger | EvidenceSigner | LogSigner> => {
  const configured = settings.witness;
  if (configured === null) return noWitness;
  const place = { dataDir, deployment: deploymentOf(settings) };
  return Layer.unwrap(
    Effect.gen(function* () {
      const log = yield* LogSigner;
      const logKeys =
        log === null ? [] : [{ setting: "the log's key", publicKey: log.key.publicKey }];
      return witnessLayer(configured, place, [...evidenceKeys(yield* EvidenceSigner), ...logKeys]);
    }),
  );
};

/** The stores and the syncs on them: in this instance's own files, or shared by replicas. */
const storage = (
  { settings, dataDir }: StartedInstance,
  refused: Deferred.Deferred<never, IndexRefused>,
): {
  readonly stores: Layer.Layer<Stores, never, Ledger>;
  readonly indexSync: Layer.Layer<
    IndexSync,
    never,
    IndexReader | IndexWriter | LogStore | Ledger | Instance | LogPublisher
  >;
} => {
  const cluster = clusterOf(settings);
  const deployment = deploymentOf(settings);
  const identityOf = (genesisHash: string) => ({ genesisHash, deployment });
  if (settings.databaseUrl === null) {
    const pathOf = (store: StoreName) => storePath(dataDir, store);
    const open = (genesisHash: string) =>
      Layer.merge(
        indexSqlite({
          ...identityOf(genesisHash),
          path: pathOf("index"),
          logFolder: logFolder(dataDir),
        }),
        outcomeLogSqlite({ ...identityOf(genesisHash), path: pathOf("relay") }),
      );
    const broken = (store: StoreName, { cause }: StoreUnavailable) =>
      isDamage(cause)
        ? new StoreCorrupt({ store: pathOf(store), reason: "it is damaged", cause })
        : undefined;
    return {
      stores: storesOfLedger({ cluster, deployment, open, refused, broken }),
      indexSync: Layer.effect(IndexSync, publishingSync),
    };
  }
  const database = postgresStore(settings.databaseUrl);
  const open = (genesisHash: string) =>
    Layer.merge(
      indexPostgres(identityOf(genesisHash)),
      outcomeLogPostgres(identityOf(genesisHash)),
    );
  return {
    stores: storesOfLedger({ cluster, deployment, open, refused }).pipe(Layer.provide(database)),
    indexSync: Layer.effect(
      IndexSync,
      Effect.flatMap(publishingSync, makeReplicatedIndexSync),
    ).pipe(Layer.provide(syncLeasePostgres().pipe(Layer.provide(database)))),
  };
};

const ASK_AGAIN = Schedule.spaced(Duration.millis(250));

/** Holds the mints that the operator lists against the ledger as soon as it answers, beside the start. */
const mintsOnLedger = (
  { settings }: StartedInstance,
  refused: Deferred.Deferred<never, IndexRefused>,
): Layer.Layer<never, never, Ledger> =>
  Layer.effectDiscard(
    checkMints(settings.supportedMints ?? []).pipe(
      Effect.retry({ schedule: ASK_AGAIN, while: ({ _tag }) => _tag !== "MintDecimalsDiffer" }),
      // The schedule never ends, so no failure of the ledger passes it.
      Effect.catch((failure) =>
        failure._tag === "MintDecimalsDiffer"
          ? Deferred.fail(refused, failure)
          : Effect.die(failure),
      ),
      Effect.forkScoped,
    ),
  );

/**
 * All adapters of one instance, chosen and connected. `indexRefused` completes when the store turns out to be unusable,
 * which can happen later: see `storesOfLedger`.
 */
export const serviceLayer = (
  started: StartedInstance,
  indexRefused: Deferred.Deferred<never, IndexRefused>,
): Layer.Layer<
  HttpServices,
  EvidenceKeyUnusable | LogKeyUnusable | LogWitnessesUnusable | WitnessUnusable
> => {
  const { settings, rpcUrls } = started;
  const solana = Layer.mergeAll(
    ledgerSolanaRpc,
    ledgerNodesSolanaRpc,
    broadcasterSolanaRpc,
    blockspaceSolanaRpc,
  ).pipe(Layer.provide(nodePool(solanaRpcConfig(rpcUrls))));
  const { stores, indexSync } = storage(started, indexRefused);
  const signers = logSigner(started).pipe(Layer.provideMerge(evidenceSigner(started)));
  const ports = Layer.mergeAll(
    stores,
    signers,
    witnessClientHttp,
    rateLimiterMemory({
      limits: settings.rateLimits,
      windowSeconds: 60,
      maxClients: MAX_RATE_LIMITED_CLIENTS,
    }),
    instance(started),
  ).pipe(Layer.provideMerge(solana));
  const log = Layer.effect(LogProofs, makeLogProofs).pipe(
    Layer.provideMerge(Layer.effect(SettlementLog, makeSettlementLog)),
  );
  return Layer.mergeAll(
    indexSync,
    witness(started),
    mintsOnLedger(started, indexRefused),
    Layer.effect(RelayDelivery, makeRelayDelivery),
    Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    Layer.effect(SettledEvidence, makeSettledEvidence),
    Layer.effect(RecentPages, makeRecentPages),
    Layer.effect(TransactionTerms, makeTransactionTerms),
    Layer.effect(LedgerPulse, makeLedgerPulse),
  ).pipe(
    Layer.provideMerge(log),
    Layer.provideMerge(logPublisher(started)),
    Layer.provideMerge(ports),
  );
};
