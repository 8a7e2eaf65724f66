import { Context, Deferred, Duration, Effect, Layer, Queue, Schedule } from "effect";
import { ArchivedEscrows, makeArchivedEscrows } from "../core/use-cases/escrow/archived-escrows.ts";
import { makeRelayDelivery, RelayDelivery } from "../core/use-cases/relay/relay-delivery.ts";
import { RelayedEffects, RelayMemory } from "../core/use-cases/relay/relayed-effects.ts";
import { LogProofs, makeLogProofs } from "../core/use-cases/log/serving/read-log.ts";
import {
  makeRecentParties,
  RecentParties,
} from "../core/use-cases/escrow/prepare/recent-parties.ts";
import { HostReports } from "../ports/host-report.ts";
import { hostReport } from "./lifecycle/host-report.ts";
import { clientPackageLayer } from "./client-package/client-package-layer.ts";
import {
  makeUnpinnedPrograms,
  UnpinnedPrograms,
} from "../core/use-cases/service/unpinned-programs.ts";
import { LedgerPulse, makeLedgerPulse } from "../core/use-cases/service/ledger-pulse.ts";
import {
  ConfirmedEvents,
  makeConfirmedEvents,
} from "../core/use-cases/index/confirmed/confirmed-events.ts";
import { IndexGrowth, makeIndexGrowth } from "../core/use-cases/index/follow-events.ts";
import { IndexClock, makeIndexClock } from "../core/use-cases/index/index-query.ts";
import {
  DailyOutcomesCount,
  makeDailyOutcomesCount,
} from "../core/use-cases/index/daily-outcomes.ts";
import { makeRecentPages, RecentPages } from "../core/use-cases/index/recent-pages.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../core/use-cases/evidence/settled-evidence.ts";
import {
  KnownBlockhashes,
  makeTransactionTerms,
  TransactionTerms,
} from "../core/use-cases/service/transaction-terms.ts";
import type { HttpServices } from "../adapters/http/server/http-services.ts";
import { rateLimiterMemory } from "../adapters/memory/rate-limiter.ts";
import { blockspaceSolanaRpc } from "../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { confirmedHistorySolanaRpc } from "../adapters/solana-rpc/history/confirmed-history-solana-rpc.ts";
import { ledgerArchiveSolanaRpc } from "../adapters/solana-rpc/history/ledger-archive-solana-rpc.ts";
import { ledgerSolanaRpc } from "../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../adapters/solana-rpc/pool/pool-config.ts";
import {
  ledgerFloorSolanaRpc,
  ledgerNodesSolanaRpc,
} from "../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { webhookBody } from "../adapters/http/index/webhook-body.ts";
import { webhookSenderHttp } from "../adapters/webhook-http/webhook-sender.ts";
import { witnessClientHttp } from "../adapters/witness-http/witness-client.ts";
import { LogPublisher } from "../core/use-cases/log/log-publisher.ts";
import { makeSettlementLog, SettlementLog } from "../core/use-cases/log/serving/published-log.ts";
import {
  makeWebhookDelivery,
  WebhookDelivery,
  WebhookReports,
} from "../core/use-cases/webhook/webhook-delivery.ts";
import type { Witness } from "../core/use-cases/witness/witness.ts";
import {
  type LogKeyUnusable,
  LogSigner,
  OwnLogKeys,
  publicKeysOf,
} from "../ports/log/log-signer.ts";
import { IndexNews } from "../ports/index/index-news.ts";
import { Instance } from "../ports/instance.ts";
import { SyncEpoch } from "../ports/index/sync-lease.ts";
import type { WitnessUnusable } from "../ports/log/witness-state.ts";
import type { GrownMark } from "./syncing/syncing-side.ts";
import { signalsOfConfirmed } from "./lifecycle/signals-of-ledger.ts";
import {
  logPublisher,
  logSigner,
  logStreaming,
  type LogWitnessesUnusable,
} from "./log/log-services.ts";
import { noWitness, witnessLayer } from "./log/witness-layer.ts";
import { type EvidenceKeyUnusable, EvidenceSigner } from "../ports/evidence-signer.ts";
import { type Ledger, LedgerFloor } from "../ports/ledger/ledger.ts";
import { evidenceKeys, evidenceSigner } from "./key-layers.ts";
import { checkMints } from "./check-mints.ts";
import type { IndexRefused } from "./stores/index-refused.ts";
import {
  deploymentOf,
  instanceLayer,
  sourceRevision,
  type StartedInstance,
} from "./lifecycle/started-instance.ts";
import { type Standby, storage, type StorageParts } from "./stores/storage.ts";
import type { SyncThread } from "./sync-worker/sync-thread.ts";

/** Clients whose budgets are kept. Each of four budgets takes about 200 bytes, 40 MB at most in all. */
const MAX_RATE_LIMITED_CLIENTS = 50_000;

/** The witness that is configured, or none. */
const witness = ({
  settings,
  dataDir,
  webSocketUrl,
}: StartedInstance): Layer.Layer<
  Witness,
  WitnessUnusable | LogKeyUnusable,
  Ledger | EvidenceSigner | LogSigner
> => {
  const configured = settings.witness;
  if (configured === null) return noWitness;
  const place = { dataDir, deployment: deploymentOf(settings), webSocketUrl };
  return Layer.unwrap(
    Effect.gen(function* () {
      const ofLog = yield* publicKeysOf(yield* LogSigner);
      const logKeys = ofLog.map((publicKey) => ({ setting: "the log's key", publicKey }));
      return witnessLayer(configured, place, [...evidenceKeys(yield* EvidenceSigner), ...logKeys]);
    }),
  );
};

/**
 * Tells how far the index is complete: the streams of events, the log's publisher and the webhooks, under the term of
 * the sync that found it, and the readers of the ledger, which then show nothing older than the index. The publisher
 * also learns whether another replica syncs.
 */
const publishing = (
  marks: Queue.Dequeue<GrownMark | Standby>,
): Layer.Layer<never, never, IndexNews | LogPublisher | LedgerFloor | WebhookDelivery> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { grown, standsBy } = yield* LogPublisher;
      const webhooks = yield* WebhookDelivery;
      const { raise } = yield* LedgerFloor;
      const news = yield* IndexNews;
      const tell = Effect.fnUntraced(function* ({ mark, epoch }: GrownMark) {
        yield* raise(mark.slot);
        yield* Effect.forkChild(news.tell);
        const told = Effect.andThen(grown(mark), webhooks.grown);
        yield* Effect.provideService(told, SyncEpoch, epoch);
      });
      const next = Effect.flatMap(Queue.take(marks), (mark) =>
        "isBeside" in mark ? standsBy(mark.isBeside) : tell(mark),
      );
      yield* Effect.forkScoped(Effect.forever(next));
    }),
  );

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
 * which can happen later: see `storesOfLedger`. With `thread`, what SQLite stores write is written by its worker;
 * without, by this thread.
 */
export const serviceLayer = (
  started: StartedInstance,
  indexRefused: Deferred.Deferred<never, IndexRefused>,
  thread: SyncThread | null = null,
): Layer.Layer<
  HttpServices | WebhookDelivery,
  EvidenceKeyUnusable | LogKeyUnusable | LogWitnessesUnusable | WitnessUnusable
> =>
  Layer.unwrap(
    Effect.map(Queue.sliding<GrownMark | Standby>(1), (marks) =>
      servicesOf({ started, refused: indexRefused, marks }, thread),
    ),
  );

/** What delivers the operator's webhooks, and how they stand. */
const webhooks = Layer.effect(
  WebhookReports,
  Effect.map(WebhookDelivery, ({ reports }) => reports),
).pipe(
  Layer.provideMerge(
    Layer.effect(
      WebhookDelivery,
      Effect.flatMap(Instance, (instance) => makeWebhookDelivery(webhookBody(instance))),
    ),
  ),
  Layer.provide(webhookSenderHttp()),
);

/** The terms of prepared transactions, by which the relay knows their blockhashes again. */
const transactionTerms = Layer.effectContext(
  Effect.map(makeTransactionTerms, ({ read, known }) =>
    Context.make(TransactionTerms, { read }).pipe(Context.add(KnownBlockhashes, known)),
  ),
);

const servicesOf = (parts: StorageParts, thread: SyncThread | null) => {
  const { started, refused, marks } = parts;
  const { settings, rpcUrls } = started;
  const solana = Layer.mergeAll(
    ledgerSolanaRpc,
    ledgerArchiveSolanaRpc,
    confirmedHistorySolanaRpc,
    ledgerNodesSolanaRpc,
    ledgerFloorSolanaRpc,
    broadcasterSolanaRpc,
    blockspaceSolanaRpc,
  ).pipe(Layer.provide(nodePool(solanaRpcConfig(rpcUrls))));
  const instance = instanceLayer(started, sourceRevision());
  const signers = Layer.effect(
    OwnLogKeys,
    // A key that cannot be read now proves nothing.
    Effect.map(LogSigner, (signer) =>
      Effect.orElseSucceed(publicKeysOf(signer), (): ReadonlyArray<Uint8Array> => []),
    ),
  ).pipe(Layer.provideMerge(logSigner(started)), Layer.provideMerge(evidenceSigner(started)));
  const ports = Layer.mergeAll(
    storage(parts, thread).pipe(Layer.provide(instance)),
    signers,
    witnessClientHttp,
    rateLimiterMemory({
      limits: settings.rateLimits,
      windowSeconds: 60,
      maxClients: MAX_RATE_LIMITED_CLIENTS,
    }),
    instance,
    Layer.succeed(HostReports, hostReport(started)),
    Layer.sync(RelayMemory, () => new RelayedEffects(deploymentOf(settings))),
  ).pipe(Layer.provideMerge(solana));
  const log = Layer.effect(LogProofs, makeLogProofs).pipe(
    Layer.provideMerge(Layer.effect(SettlementLog, makeSettlementLog)),
  );
  return Layer.mergeAll(
    publishing(marks),
    witness(started),
    mintsOnLedger(started, refused),
    Layer.effect(RelayDelivery, makeRelayDelivery),
    Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    Layer.effect(SettledEvidence, makeSettledEvidence),
    Layer.effect(ConfirmedEvents, makeConfirmedEvents).pipe(
      Layer.provide(signalsOfConfirmed(started)),
    ),
    Layer.effect(RecentPages, makeRecentPages),
    Layer.effect(DailyOutcomesCount, makeDailyOutcomesCount),
    transactionTerms,
    Layer.sync(RecentParties, makeRecentParties),
    Layer.effect(LedgerPulse, makeLedgerPulse),
    Layer.effect(UnpinnedPrograms, makeUnpinnedPrograms),
    clientPackageLayer(started.dataDir),
    logStreaming(settings),
  ).pipe(
    Layer.provideMerge(webhooks),
    Layer.provideMerge(Layer.effect(IndexGrowth, makeIndexGrowth)),
    Layer.provideMerge(Layer.effect(IndexClock, makeIndexClock)),
    Layer.provideMerge(log),
    Layer.provideMerge(logPublisher(started)),
    Layer.provideMerge(ports),
  );
};
