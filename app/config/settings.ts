import { ConfigProvider, Effect, Redacted } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import type { SupportedMint } from "../../core/domain/supported-mint.ts";
import type { Budget } from "../../ports/rate-limiter.ts";
import type { LOG_LEVELS, LogFormat } from "../logging.ts";
import type { Cluster } from "./cluster.ts";
import { clustersOf, environment, faultsAcross, misspelt, type Values } from "./environment.ts";
import { ConfigInvalid, settle } from "./variable.ts";

/** Addresses of RPC nodes, at least one, asked in this order. They can carry API keys. */
export type RpcUrls = readonly [Redacted.Redacted<URL>, ...ReadonlyArray<Redacted.Redacted<URL>>];

/** The ledger that the service starts for itself, or one it finds running. */
export type LedgerSettings =
  | { readonly kind: "embedded"; readonly port: number; readonly demo: boolean }
  | {
      readonly kind: "remote";
      readonly rpcUrls: RpcUrls;
      readonly webSocketUrl: Redacted.Redacted<URL>;
      readonly cluster: Cluster;
      readonly deployment: Deployment;
    };

/** Everything the environment decides, validated. */
export type Settings = {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly dataDir: string;
  readonly ledger: LedgerSettings;
  /** Null: the ledger's own default mints. */
  readonly supportedMints: ReadonlyArray<SupportedMint> | null;
  /** The text of an evidence key, and the file that holds one; both null, or one of them set. */
  readonly evidenceKey: Redacted.Redacted | null;
  readonly evidenceKeyFile: string | null;
  readonly evidenceRetiredKeys: string | null;
  /** The database that replicas share; null: files in `dataDir`. It can carry a password. */
  readonly databaseUrl: Redacted.Redacted<URL> | null;
  /** 0: no background sync. */
  readonly syncIntervalSeconds: number;
  /** Requests a minute. */
  readonly rateLimits: Readonly<Record<Budget, number>>;
  readonly trustedProxies: ReadonlyArray<string>;
  readonly corsOrigins: ReadonlyArray<string>;
  readonly enforceBetaLimits: boolean;
  readonly logLevel: keyof typeof LOG_LEVELS;
  readonly logFormat: LogFormat;
};

/** A background sync is cheap next to a ledger on the same machine, and metered by a remote one. */
const SYNC_SECONDS = { embedded: 2, remote: 15 } as const;

const redacted = <A>(value: A): Redacted.Redacted<A> => Redacted.make(value);

/** Where a node listens when nothing else is said: its own port, or the next one where it names one (Agave `--rpc-port`). */
const webSocketUrlOf = (rpcUrl: URL): URL => {
  const url = new URL(rpcUrl);
  url.protocol = rpcUrl.protocol === "https:" ? "wss:" : "ws:";
  if (rpcUrl.port !== "") url.port = String(Number(rpcUrl.port) + 1);
  return url;
};

const ledgerSettings = (values: Required<Values>): LedgerSettings => {
  const [first, ...others] = values.rpcUrls ?? [];
  const { custodyProgram, attestorProgram } = values;
  if (first === undefined || custodyProgram === null || attestorProgram === null)
    return { kind: "embedded", port: values.localPort, demo: values.localDemo };
  return {
    kind: "remote",
    rpcUrls: [redacted(first), ...others.map(redacted)],
    webSocketUrl: redacted(values.webSocketUrl ?? webSocketUrlOf(first)),
    cluster: values.cluster ?? clustersOf([first, ...others])[0] ?? "localnet",
    deployment: { custodyProgram, attestorProgram },
  };
};

/** The settings of an environment. Fails with every fault at once, before anything is started. */
export const readSettings = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
) {
  const readings = yield* Effect.orDie(environment.parse(ConfigProvider.fromEnvRecord(env)));
  const settled = settle(readings);
  const faults = [
    ...settled.faults,
    ...faultsAcross(settled.values),
    ...misspelt(Object.keys(env)),
  ];
  if (faults.length > 0) return yield* new ConfigInvalid({ faults });
  const values = settled.values as Required<Values>;
  const ledger = ledgerSettings(values);
  const settings: Settings = {
    host: values.host,
    port: values.port,
    dataDir: values.dataDir,
    ledger,
    supportedMints: values.supportedMints,
    evidenceKey: values.evidenceKey,
    evidenceKeyFile: values.evidenceKeyFile,
    evidenceRetiredKeys: values.evidenceRetiredKeys,
    databaseUrl: values.databaseUrl === null ? null : redacted(values.databaseUrl),
    syncIntervalSeconds: values.syncIntervalSeconds ?? SYNC_SECONDS[ledger.kind],
    rateLimits: {
      reads: values.reads,
      prepare: values.prepare,
      relay: values.relay,
      sync: values.sync,
    },
    trustedProxies: values.trustedProxies,
    corsOrigins: values.corsOrigins,
    enforceBetaLimits: values.enforceBetaLimits,
    logLevel: values.logLevel,
    logFormat: values.logFormat ?? (process.stdout.isTTY ? "pretty" : "json"),
  };
  return settings;
});
