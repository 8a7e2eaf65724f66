import { answerMcpClients } from "../../../../app/answer-mcp.ts";
import { Cause, Effect, Layer, Logger, ManagedRuntime, Metric, Ref } from "effect";
import {
  createHttpApp,
  type HttpApp,
  type HttpOptions,
} from "../../../../adapters/http/server/http-app.ts";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import {
  makeRelayDelivery,
  RelayDelivery,
} from "../../../../core/use-cases/relay/relay-delivery.ts";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { rateLimiterMemory } from "../../../../adapters/memory/rate-limiter.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { jwkThumbprint } from "../../../../core/domain/evidence/evidence-signature.ts";
import { NO_PINS } from "../../../../core/domain/ledger/deployment.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { IndexSync, makeIndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import {
  ConfirmedEvents,
  makeConfirmedEvents,
} from "../../../../core/use-cases/index/confirmed/confirmed-events.ts";
import { IndexGrowth, makeIndexGrowth } from "../../../../core/use-cases/index/follow-events.ts";
import { IndexClock, makeIndexClock } from "../../../../core/use-cases/index/index-query.ts";
import {
  DailyOutcomesCount,
  makeDailyOutcomesCount,
} from "../../../../core/use-cases/index/daily-outcomes.ts";
import { makeRecentPages, RecentPages } from "../../../../core/use-cases/index/recent-pages.ts";
import { LogProofs } from "../../../../core/use-cases/log/serving/read-log.ts";
import {
  makeUnpinnedPrograms,
  UnpinnedPrograms,
} from "../../../../core/use-cases/service/unpinned-programs.ts";
import { LedgerPulse, makeLedgerPulse } from "../../../../core/use-cases/service/ledger-pulse.ts";
import {
  makeSettledEvidence,
  SettledEvidence,
} from "../../../../core/use-cases/evidence/settled-evidence.ts";
import {
  makeTransactionTerms,
  TransactionTerms,
} from "../../../../core/use-cases/service/transaction-terms.ts";
import { CheckpointMalformed } from "../../../../core/use-cases/witness/witness-errors.ts";
import { Witness } from "../../../../core/use-cases/witness/witness.ts";
import {
  ADD_CHECKPOINT_EXAMPLE,
  COSIGNATURE_EXAMPLE,
} from "../../../../adapters/http/witness/add-checkpoint.ts";
import { REFUSED_EXAMPLE } from "../../../../adapters/http/witness/read-refused.ts";
import { ClientPackage } from "../../../../ports/client-package.ts";
import { EvidenceSigner } from "../../../../ports/evidence-signer.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { NO_PACKETS, SettledPackets } from "../../../../ports/settled-packets.ts";
import { nothingConfirmed } from "../../../doubles/no-signals.ts";
import { noArchive, noNews, nothingKept } from "../../../doubles/nothing-kept.ts";
import { Instance } from "../../../../ports/instance.ts";
import { logSignerNone } from "../../../../adapters/signer/log-signer.ts";
import { askedPolicy, WitnessPolicies } from "../../../../core/use-cases/log/witness-policies.ts";
import type { LogPolicy } from "../../../../core/log/policy/log-policy.ts";
import { LogPublisher, makeLogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import {
  makeSettlementLog,
  SettlementLog,
} from "../../../../core/use-cases/log/serving/published-log.ts";
import { LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { LogSigner } from "../../../../ports/log/log-signer.ts";
import { WitnessClient, WitnessUnreachable } from "../../../../ports/log/log-source.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { logKeyOf } from "../../../doubles/log-key.ts";
import { usdc } from "../../../core/use-cases/test-instance.ts";
import { type Contract, documentedAnswers } from "./documented-answers.ts";
import { GENESIS, MINT } from "./parties.ts";
import { seedInto, settlementLedger } from "./settlement-ledger.ts";

/** The id of the log of the services' ledger. */
export const TEST_LOG_ID = networkIdOf(networkLeaf(GENESIS, LOCAL_DEPLOYMENT.custodyProgram));

/** One line of the log: the message's text and its fields. */
export type LogLine = {
  readonly level: string;
  readonly parts: ReadonlyArray<unknown>;
  /** The cause of a failure, empty without one. */
  readonly cause: string;
};

const signerOf = (seed: Uint8Array) => {
  const { publicKey, sign } = ed25519Key(seed);
  return Layer.succeed(EvidenceSigner, {
    current: { keyId: jwkThumbprint(publicKey), publicKey, status: "current", endedAtMs: null },
    former: [],
    sign: (message) => Effect.sync(() => sign(message)),
  });
};

const EXAMPLE_WITNESS: Pick<Witness["Service"], "addCheckpoint"> = {
  addCheckpoint: (body) =>
    body === ADD_CHECKPOINT_EXAMPLE
      ? Effect.succeed({ kind: "cosigned", lines: COSIGNATURE_EXAMPLE })
      : Effect.fail(new CheckpointMalformed({ detail: "it is not the example" })),
};

export type ServiceOptions = Omit<HttpOptions, "context"> & {
  readonly limit?: number;
  readonly enforceBetaLimits?: boolean;
  /** By default the signer of the seed of 32 sevens. */
  readonly signer?: Layer.Layer<EvidenceSigner, unknown>;
  /** The instance's values that differ from the defaults. */
  readonly instance?: Partial<Instance["Service"]>;
  /** The seed of the log's key; null, by default, for none. */
  readonly logSigner?: Uint8Array | null;
  /** The witnesses of the log; null, by default, for none. */
  readonly logPolicy?: LogPolicy | null;
  /** The witnesses of the log that only see it grow; null, by default, for none. */
  readonly appendOnlyPolicy?: LogPolicy | null;
  /** By default a witness that cosigns the document's example, and finds every other request malformed. */
  readonly witness?: Pick<Witness["Service"], "addCheckpoint"> &
    Partial<Pick<Witness["Service"], "refused">>;
  /** By default the bytes of a text. */
  readonly clientPackage?: ClientPackage["Service"];
  /** By default the machine's own clock. */
  readonly clock?: Layer.Layer<never>;
};

/** The use cases over stores in memory and a scripted chain, behind HTTP. */
export const makeService = async (options: ServiceOptions = {}) => {
  const {
    limit = 1_000_000,
    enforceBetaLimits = false,
    signer = signerOf(new Uint8Array(32).fill(7)),
    instance: otherwise = {},
    logSigner = null,
    logPolicy = null,
    appendOnlyPolicy = null,
    clock = Layer.empty,
    witness = EXAMPLE_WITNESS,
    clientPackage = { bytes: Effect.succeed(new TextEncoder().encode("a package")) },
    ...http
  } = options;
  const policies = { onLedger: logPolicy, appendOnly: appendOnlyPolicy };
  const lines: Array<LogLine> = [];
  const ledger = settlementLedger(GENESIS);
  ledger.simulationLogs = ["Program log: double"];
  const instance = Layer.succeed(Instance, {
    deployment: LOCAL_DEPLOYMENT,
    programPins: NO_PINS,
    cluster: "localnet",
    runsLedger: false,
    networkAddress: "http://127.0.0.1:8899",
    supportedMints: [usdc(MINT)],
    enforceBetaLimits,
    version: "1.0.0-devnet",
    revision: null,
    startedAtMs: 0,
    syncsByItself: true,
    confirmTimeoutMs: 10,
    ...otherwise,
  });
  const ports = Layer.mergeAll(
    ledger.portsWith(),
    instance,
    clock,
    indexMemory(),
    noNews,
    nothingKept,
    noArchive,
    Layer.succeed(SettledPackets, NO_PACKETS),
    logIdentity(GENESIS, LOCAL_DEPLOYMENT),
    outcomeLogMemory,
    rateLimiterMemory({
      limits: { reads: limit, prepare: limit, relay: limit, sync: limit },
      windowSeconds: 60,
      maxClients: 1000,
    }),
    signer,
    logSigner === null
      ? logSignerNone
      : Layer.succeed(LogSigner, { name: "log.example", key: logKeyOf(logSigner) }),
    Layer.succeed(LedgerNodes, { count: 1, readFromEach: () => Effect.succeed([]) }),
    Layer.succeed(WitnessClient, {
      addCheckpoint: () => Effect.fail(new WitnessUnreachable({ reason: "no witness is there" })),
    }),
    Layer.succeed(Witness, { refused: Effect.succeed([REFUSED_EXAMPLE]), ...witness, key: null }),
    Layer.sync(Metric.MetricRegistry, () => new Map()),
    Logger.layer([
      Logger.make<unknown, void>(({ logLevel, message, cause }) => {
        const parts = Array.isArray(message) ? message : [message];
        lines.push({ level: logLevel, parts, cause: Cause.pretty(cause) });
      }),
    ]),
  );
  const running = Layer.mergeAll(
    Layer.effect(IndexSync, makeIndexSync()),
    Layer.effect(RelayDelivery, makeRelayDelivery),
    Layer.effect(ArchivedEscrows, makeArchivedEscrows),
    Layer.effect(SettledEvidence, makeSettledEvidence),
    Layer.succeed(LogProofs, { ofEscrow: () => Effect.succeed(null) }),
    Layer.effect(IndexClock, makeIndexClock),
    Layer.effect(ConfirmedEvents, makeConfirmedEvents).pipe(
      Layer.provide(nothingConfirmed),
      Layer.provideMerge(Layer.effect(IndexGrowth, makeIndexGrowth)),
    ),
    Layer.effect(RecentPages, makeRecentPages),
    Layer.effect(DailyOutcomesCount, makeDailyOutcomesCount),
    Layer.effect(TransactionTerms, makeTransactionTerms),
    Layer.effect(LedgerPulse, makeLedgerPulse),
    Layer.effect(UnpinnedPrograms, makeUnpinnedPrograms),
    Layer.succeed(ClientPackage, clientPackage),
    Layer.effect(SettlementLog, makeSettlementLog),
    Layer.effect(LogPublisher, makeLogPublisher(askedPolicy(policies))),
    Layer.effect(WitnessPolicies, Ref.make(policies)),
  ).pipe(Layer.provide(ports));
  const runtime = ManagedRuntime.make(Layer.merge(ports, running));
  const context = await runtime.context();
  const app: HttpApp = createHttpApp({ mcp: answerMcpClients, ...http, context });
  return { app, context, ledger, lines, runtime, seed: seedInto(ledger) };
};

/** As `makeService`, after a first sync of its index. The sync's own calls do not count in `ledger.reads`. */
export const makeSyncedService = async (options: ServiceOptions = {}) => {
  const service = await makeService(options);
  const synced = await service.runtime.runPromiseExit(IndexSync.use(({ request }) => request));
  if (synced._tag === "Failure") throw new Error(Cause.pretty(synced.cause));
  service.ledger.reads = 0;
  return service;
};

let contract: Contract | undefined;

/**
 * The document, which depends on the code alone; making it is slow. A service of its own is asked, so that no test's
 * service has less left of its budgets.
 */
const contractOf = async (): Promise<Contract> => {
  if (contract !== undefined) return contract;
  const { app, runtime } = await makeService();
  const response = await app.handle(new Request("http://localhost/openapi.json"));
  contract = (await response.json()) as Contract;
  await runtime.dispose();
  return contract;
};

/** Sends requests to a service and checks each answer against what its OpenAPI document promises. */
export const checkedClient = async (service: { readonly app: HttpApp }) => {
  const check = documentedAnswers(await contractOf());
  const send = async (path: string, init: RequestInit & { readonly duplex?: "half" } = {}) => {
    const request = new Request(`http://localhost${path}`, init);
    const response = await service.app.handle(request.clone());
    await check(request, response);
    return response;
  };
  const postJson = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { send, postJson };
};

/** The JSON of an answer as a type that the caller names. Its form was checked against the document. */
export const jsonOf = async <T = unknown>(response: Response): Promise<T> =>
  (await response.json()) as T;

/** The `data` of an answer. */
export const dataOf = async <T = unknown>(response: Response): Promise<T> =>
  (await jsonOf<{ readonly data: T }>(response)).data;

/** The faults that a problem names. */
export const errorsOf = async (response: Response) =>
  (
    await jsonOf<{
      readonly errors: ReadonlyArray<{ readonly pointer: string; readonly detail: string }>;
    }>(response)
  ).errors;

/** The problem code of an answer, with its status. */
export const problemOf = async (response: Response): Promise<string> => {
  const body = (await response.json()) as { readonly code: string };
  return `${response.status} ${body.code}`;
};
