import { ConfigProvider, Effect, Redacted } from "effect";
import type { Deployment, ProgramPins } from "../../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../../core/domain/supported-mint.ts";
import type { Budget } from "../../ports/rate-limiter.ts";
import { type LOG_LEVELS, type LogFormat, usualLogFormat } from "../lifecycle/logging.ts";
import type { WitnessSettings } from "../log/witness-layer.ts";
import type { Cluster } from "./cluster.ts";
import { environment, type Values } from "./environment.ts";
import { clustersOf, faultsAcross } from "./faults-across.ts";
import { misspelt } from "./misspelt.ts";
import { variableNames } from "./variable-names.ts";
import { ConfigInvalid, splitReadings } from "./variable.ts";

/** Addresses of RPC nodes, at least one, in order of preference. They may hold API keys. */
export type RpcUrls = readonly [Redacted.Redacted<URL>, ...ReadonlyArray<Redacted.Redacted<URL>>];

/** A Yellowstone gRPC server, and the file of its access token; null for a server that asks for none. */
export type YellowstoneSettings = { readonly url: URL; readonly tokenFile: string | null };

/** The ledger that the service starts itself, or a remote one. */
export type LedgerSettings =
  | {
      readonly kind: "embedded";
      readonly port: number;
      readonly demo: boolean;
      /** Slots between `confirmed` and `finalized`. */
      readonly finalitySlots: number;
      /** Whether three witnesses of the log run beside the service, where no setting names others. */
      readonly witnesses: boolean;
    }
  | {
      readonly kind: "remote";
      readonly rpcUrls: RpcUrls;
      readonly webSocketUrl: Redacted.Redacted<URL>;
      /** A Yellowstone gRPC server whose signals replace those of the WebSocket; null for none. */
      readonly yellowstone: YellowstoneSettings | null;
      readonly cluster: Cluster;
      readonly deployment: Deployment;
    };

/** The addresses of one database. They may hold passwords. */
export type DatabaseSettings = {
  /** The server that takes writes, or a pooler before it. */
  readonly url: Redacted.Redacted<URL>;
  /** The server behind a pooler; null where `url` is the server, or replicas poll. */
  readonly directUrl: Redacted.Redacted<URL> | null;
  /** A streaming standby that rows are read from; null for none. */
  readonly readUrl: Redacted.Redacted<URL> | null;
};

/** A collector of traces and logs. */
export type TelemetrySettings = {
  /** `/v1/traces` and `/v1/logs` are below it. */
  readonly endpoint: URL;
  /** The headers of each request to it. They may hold a token. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>;
};

/** All validated settings of the environment. */
export type Settings = {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The port of a listener for metrics alone; 0 takes a free one; null serves the metrics on `port`. */
  readonly metricsPort: number | null;
  /** Processes that share `port`, [1, 64]. With more than one, each of them has these settings. */
  readonly workers: number;
  readonly dataDir: string;
  readonly ledger: LedgerSettings;
  /** The hashes of the programs that this service works with. */
  readonly programPins: ProgramPins;
  /** Null: the ledger's own default mints. */
  readonly supportedMints: ReadonlyArray<SupportedMint> | null;
  /** The text of an evidence key, and the file that holds one; both null, or one of them set. */
  readonly evidenceKey: Redacted.Redacted | null;
  readonly evidenceKeyFile: string | null;
  readonly evidenceRetiredKeys: string | null;
  /** The settlement log's name; null: `localhost` on the embedded ledger. */
  readonly logName: string | null;
  /** The text of the log's key, and the file that holds one; both null, or one of them set. */
  readonly logKey: Redacted.Redacted | null;
  readonly logKeyFile: string | null;
  /** The file of the policy that names witnesses with a node of their own, null without. */
  readonly logWitnesses: string | null;
  /** The file of the policy that names witnesses that only see the log grow, null without. */
  readonly logWitnessesAppendOnly: string | null;
  /** The NATS server that gets the log's entries; null for none. It may hold a password. */
  readonly natsUrl: Redacted.Redacted<URL> | null;
  /** Services that are asked for the packets of archived escrows that nobody has shown here. */
  readonly archivePeers: ReadonlyArray<URL>;
  /** The witness of other services' logs; null for none. */
  readonly witness: WitnessSettings | null;
  /** The database that replicas share. Null means files in `dataDir`. */
  readonly database: DatabaseSettings | null;
  /** 0 means no background sync. */
  readonly syncIntervalSeconds: number;
  /** The interval of scans of all merchants; 0 for none. */
  readonly scanEverySeconds: number;
  /** Requests per minute. */
  readonly rateLimits: Readonly<Record<Budget, number>>;
  readonly trustedProxies: ReadonlyArray<string>;
  /** The HTTPS origin under which others reach the service, without a slash at its end; null: not configured. */
  readonly publicUrl: string | null;
  readonly corsOrigins: ReadonlyArray<string>;
  readonly enforceBetaLimits: boolean;
  /** Where traces and logs are exported to; null for nowhere. */
  readonly telemetry: TelemetrySettings | null;
  readonly logLevel: keyof typeof LOG_LEVELS;
  readonly logFormat: LogFormat;
};

/** A background sync is cheap at a ledger on the same machine. Remote nodes charge for it, and their signals are heard at once. */
const SYNC_SECONDS = { embedded: 2, remote: 30 } as const;

const redacted = <A>(value: A): Redacted.Redacted<A> => Redacted.make(value);

/**
 * A node's usual WebSocket address: the port after its RPC port if that is given, else the same port (Agave
 * `--rpc-port`).
 */
export const webSocketUrlOf = (rpcUrl: URL): URL => {
  const url = new URL(rpcUrl);
  url.protocol = rpcUrl.protocol === "https:" ? "wss:" : "ws:";
  if (rpcUrl.port !== "") url.port = String(Number(rpcUrl.port) + 1);
  return url;
};

const ledgerSettings = (values: Required<Values>): LedgerSettings => {
  const [first, ...others] = values.rpcUrls ?? [];
  const { custodyProgram, attestorProgram, yellowstoneUrl, yellowstoneTokenFile } = values;
  if (first === undefined || custodyProgram === null || attestorProgram === null)
    return {
      kind: "embedded",
      port: values.localPort,
      demo: values.localDemo,
      finalitySlots: values.localFinality,
      witnesses: values.localWitnesses,
    };
  return {
    kind: "remote",
    rpcUrls: [redacted(first), ...others.map(redacted)],
    webSocketUrl: redacted(values.webSocketUrl ?? webSocketUrlOf(first)),
    yellowstone:
      yellowstoneUrl === null ? null : { url: yellowstoneUrl, tokenFile: yellowstoneTokenFile },
    cluster: values.cluster ?? clustersOf([first, ...others])[0] ?? "localnet",
    deployment: { custodyProgram, attestorProgram },
  };
};

const databaseSettings = ({
  databaseUrl,
  databaseDirectUrl,
  databaseReadUrl,
}: Required<Values>): DatabaseSettings | null =>
  databaseUrl === null
    ? null
    : {
        url: redacted(databaseUrl),
        directUrl: databaseDirectUrl === null ? null : redacted(databaseDirectUrl),
        readUrl: databaseReadUrl === null ? null : redacted(databaseReadUrl),
      };

const witnessSettings = ({
  witnessLogs,
  witnessKeyFile,
  witnessName,
}: Required<Values>): WitnessSettings | null =>
  witnessLogs === null || witnessKeyFile === null || witnessName === null
    ? null
    : { name: witnessName, keyFile: witnessKeyFile, logsFile: witnessLogs };

/** The settings of an environment. Fails with all faults at once, before anything starts. */
export const readSettings = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
) {
  const readings = yield* Effect.orDie(environment.parse(ConfigProvider.fromEnvRecord(env)));
  const split = splitReadings(readings);
  const faults = [
    ...split.faults,
    ...faultsAcross(split.values),
    ...misspelt(Object.keys(env), variableNames(environment)),
  ];
  if (faults.length > 0) return yield* new ConfigInvalid({ faults });
  const values = split.values as Required<Values>;
  const ledger = ledgerSettings(values);
  const settings: Settings = {
    host: values.host,
    port: values.port,
    metricsPort: values.metricsPort,
    workers: values.workers,
    dataDir: values.dataDir,
    ledger,
    programPins: { custody: values.custodyPins, attestor: values.attestorPins },
    supportedMints: values.supportedMints,
    evidenceKey: values.evidenceKey,
    evidenceKeyFile: values.evidenceKeyFile,
    evidenceRetiredKeys: values.evidenceRetiredKeys,
    logName: values.logName,
    logKey: values.logKey,
    logKeyFile: values.logKeyFile,
    logWitnesses: values.logWitnesses,
    logWitnessesAppendOnly: values.logWitnessesAppendOnly,
    natsUrl: values.natsUrl && redacted(values.natsUrl),
    archivePeers: values.archivePeers,
    witness: witnessSettings(values),
    database: databaseSettings(values),
    syncIntervalSeconds: values.syncIntervalSeconds ?? SYNC_SECONDS[ledger.kind],
    scanEverySeconds: values.scanEverySeconds,
    rateLimits: {
      reads: values.reads,
      prepare: values.prepare,
      relay: values.relay,
      sync: values.sync,
    },
    trustedProxies: values.trustedProxies,
    publicUrl: values.publicUrl,
    corsOrigins: values.corsOrigins,
    enforceBetaLimits: values.enforceBetaLimits,
    telemetry:
      values.otlpEndpoint === null
        ? null
        : { endpoint: values.otlpEndpoint, headers: values.otlpHeaders ?? redacted({}) },
    logLevel: values.logLevel,
    logFormat: values.logFormat ?? usualLogFormat(),
  };
  return settings;
});
