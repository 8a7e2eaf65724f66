import { Config } from "effect";
import { type Cluster, CLUSTERS, clusterOfNode } from "./cluster.ts";
import * as kinds from "./kinds.ts";
import { supportedMint } from "./supported-mints.ts";
import { type ConfigFault, type splitReadings, variable } from "./variable.ts";

const perMinute = kinds.wholeNumber(1, 1_000_000);

/** The variables of the log lines that a service or a witness writes. */
export const logLines = {
  logLevel: variable("LOG_LEVEL", kinds.oneOf("debug", "info", "warn", "error"), "info" as const),
  logFormat: variable("LOG_FORMAT", kinds.oneOf("pretty", "json"), null),
};

/** Every variable with its kind and its default. */
export const environment = Config.all({
  host: variable("HOST", kinds.host, "127.0.0.1"),
  port: variable("PORT", kinds.wholeNumber(0, 65_535), 3000),
  metricsPort: variable("METRICS_PORT", kinds.wholeNumber(0, 65_535), null),
  dataDir: variable("DATA_DIR", kinds.text, "./data"),
  rpcUrls: variable("SOLANA_RPC_URL", kinds.listOf(kinds.rpcUrl), null),
  webSocketUrl: variable("SOLANA_WS_URL", kinds.webSocketUrl, null),
  yellowstoneUrl: variable("YELLOWSTONE_URL", kinds.grpcUrl, null),
  yellowstoneTokenFile: variable("YELLOWSTONE_TOKEN_FILE", kinds.text, null),
  cluster: variable("SOLANA_CLUSTER", kinds.oneOf(...CLUSTERS), null),
  custodyProgram: variable("CUSTODY_PROGRAM_ID", kinds.ledgerAddress, null),
  attestorProgram: variable("ATTESTOR_PROGRAM_ID", kinds.ledgerAddress, null),
  custodyPins: variable("CUSTODY_PROGRAM_SHA256", kinds.listOf(kinds.programHash), []),
  attestorPins: variable("ATTESTOR_PROGRAM_SHA256", kinds.listOf(kinds.programHash), []),
  supportedMints: variable("SUPPORTED_MINTS", kinds.listOf(supportedMint), null),
  // Its WebSocket takes the next port.
  localPort: variable("LOCAL_LEDGER_PORT", kinds.wholeNumber(0, 65_534), 8899),
  localDemo: variable("LOCAL_LEDGER_DEMO", kinds.flag, true),
  localFinality: variable("LOCAL_LEDGER_FINALITY_SLOTS", kinds.wholeNumber(0, 150), 0),
  evidenceKey: variable("EVIDENCE_SIGNING_KEY", kinds.signingKey, null),
  evidenceKeyFile: variable("EVIDENCE_SIGNING_KEY_FILE", kinds.text, null),
  evidenceRetiredKeys: variable("EVIDENCE_RETIRED_KEYS", kinds.formerKeys, null),
  logName: variable("LOG_NAME", kinds.logName, null),
  logKey: variable("LOG_SIGNING_KEY", kinds.signingKey, null),
  logKeyFile: variable("LOG_SIGNING_KEY_FILE", kinds.text, null),
  logWitnesses: variable("LOG_WITNESSES", kinds.text, null),
  archivePeers: variable("ARCHIVE_PEERS", kinds.listOf(kinds.serviceUrl), []),
  witnessLogs: variable("WITNESS_LOGS", kinds.text, null),
  witnessKeyFile: variable("WITNESS_KEY_FILE", kinds.text, null),
  witnessName: variable("WITNESS_NAME", kinds.text, null),
  databaseUrl: variable("DATABASE_URL", kinds.databaseUrl, null),
  syncIntervalSeconds: variable("SYNC_INTERVAL_SECONDS", kinds.wholeNumber(0, 86_400), null),
  scanEverySeconds: variable("SNAPSHOT_INTERVAL_SECONDS", kinds.wholeNumber(0, 2_592_000), 0),
  reads: variable("RATE_LIMIT_READS", perMinute, 1200),
  prepare: variable("RATE_LIMIT_PREPARE", perMinute, 600),
  relay: variable("RATE_LIMIT_RELAY", perMinute, 120),
  sync: variable("RATE_LIMIT_SYNC", perMinute, 20),
  trustedProxies: variable("TRUSTED_PROXIES", kinds.listOf(kinds.addressBlock), []),
  publicUrl: variable("PUBLIC_URL", kinds.publicOrigin, null),
  corsOrigins: variable("CORS_ORIGINS", kinds.listOf(kinds.webOrigin), ["*"]),
  enforceBetaLimits: variable("ENFORCE_BETA_LIMITS", kinds.flag, false),
  ...logLines,
});

/** The values that could be read. A faulty variable's member is undefined. */
export type Values = ReturnType<typeof splitReadings<Config.Success<typeof environment>>>["values"];

const missing = (name: string, expected: string): ConfigFault => ({
  variable: name,
  problem: "is not set",
  expected,
});

/** The different clusters that the nodes' addresses name. */
export const clustersOf = (urls: ReadonlyArray<URL>): ReadonlyArray<Cluster> => [
  ...new Set(urls.map(clusterOfNode).filter((cluster) => cluster !== undefined)),
];

/** Hosts that take a port of 127.0.0.1, where the embedded ledger listens. */
const HOSTS_OF_LEDGER = new Set(["127.0.0.1", "localhost", "0.0.0.0", "::"]);

/** Ports of the service that the embedded ledger or its WebSocket would take. */
const localPortFaults = ({
  host = "",
  localPort,
  port,
  metricsPort,
}: Values): ReadonlyArray<ConfigFault> => {
  if (!localPort || !HOSTS_OF_LEDGER.has(host)) return [];
  return Object.entries({ PORT: port, METRICS_PORT: metricsPort }).flatMap(([name, taken]) => {
    if (taken !== localPort && taken !== localPort + 1) return [];
    const problem = taken === localPort ? `is ${name}` : `gives its WebSocket the port of ${name}`;
    const expected = `two free ports, this one and the next; ${name} is ${taken}`;
    return [{ variable: "LOCAL_LEDGER_PORT", problem, expected }];
  });
};

/** The faults of combinations: variables that need or exclude each other. */
export const faultsAcross = (values: Values): ReadonlyArray<ConfigFault> => {
  const faults: Array<ConfigFault> = [];
  const remote = values.rpcUrls !== null;
  const programs = {
    CUSTODY_PROGRAM_ID: values.custodyProgram,
    ATTESTOR_PROGRAM_ID: values.attestorProgram,
  };
  for (const [name, value] of Object.entries(programs)) {
    if (remote && value === null)
      faults.push(missing(name, "the program's address, because SOLANA_RPC_URL is set"));
    if (!remote && value)
      faults.push({
        variable: name,
        problem: "is set, but SOLANA_RPC_URL is not",
        expected: "both or neither: the embedded ledger brings its own programs",
      });
  }
  if (!remote && values.yellowstoneUrl)
    faults.push({
      variable: "YELLOWSTONE_URL",
      problem: "is set, but SOLANA_RPC_URL is not",
      expected: "both or neither: the embedded ledger announces its changes itself",
    });
  if (values.yellowstoneTokenFile && values.yellowstoneUrl === null)
    faults.push(missing("YELLOWSTONE_URL", "the server that takes YELLOWSTONE_TOKEN_FILE's token"));
  if (values.metricsPort && values.metricsPort === values.port)
    faults.push({
      variable: "METRICS_PORT",
      problem: "is PORT",
      expected: "another port; when not set, PORT serves the metrics too",
    });
  if (!remote) faults.push(...localPortFaults(values));
  const named = clustersOf(values.rpcUrls ?? []);
  if (named.length > 1)
    faults.push({
      variable: "SOLANA_RPC_URL",
      problem: `names nodes of ${named.join(" and ")}`,
      expected: "nodes of one cluster",
    });
  if (values.rpcUrls && values.cluster === null && named.length === 0)
    faults.push(missing("SOLANA_CLUSTER", `${CLUSTERS.join(", ")}: SOLANA_RPC_URL does not tell`));
  if (!remote && values.cluster && values.cluster !== "localnet")
    faults.push({
      variable: "SOLANA_CLUSTER",
      problem: `is "${values.cluster}", but SOLANA_RPC_URL is not set`,
      expected: "localnet, or a SOLANA_RPC_URL of that cluster",
    });
  const mints = (values.supportedMints ?? []).map((mint) => mint.address);
  if (new Set(mints).size < mints.length)
    faults.push({
      variable: "SUPPORTED_MINTS",
      problem: "names a mint twice",
      expected: "each mint once, so that it has one symbol",
    });
  if (values.evidenceKey && values.evidenceKeyFile)
    faults.push({
      variable: "EVIDENCE_SIGNING_KEY",
      problem: "is set, and EVIDENCE_SIGNING_KEY_FILE as well",
      expected: "one of the two",
    });
  const witness = {
    WITNESS_LOGS: values.witnessLogs,
    WITNESS_KEY_FILE: values.witnessKeyFile,
    WITNESS_NAME: values.witnessName,
  };
  if (Object.values(witness).some((value) => typeof value === "string"))
    for (const [name, value] of Object.entries(witness))
      if (value === null) faults.push(missing(name, "a value: a witness needs all three"));
  return [...faults, ...logFaults(values)];
};

/** The faults of the settlement log's variables. */
const logFaults = (values: Values): ReadonlyArray<ConfigFault> => {
  const faults: Array<ConfigFault> = [];
  const { rpcUrls, logName, logKey, logKeyFile, logWitnesses } = values;
  const hasKey = logKey !== null || logKeyFile !== null;
  if (logKey && logKeyFile)
    faults.push({
      variable: "LOG_SIGNING_KEY",
      problem: "is set, and LOG_SIGNING_KEY_FILE as well",
      expected: "one of the two",
    });
  if (rpcUrls === null) return faults;
  if (hasKey && logName === null)
    faults.push(missing("LOG_NAME", "the log's name, because its key is set"));
  for (const [name, value] of Object.entries({ LOG_NAME: logName, LOG_WITNESSES: logWitnesses }))
    if (value && !hasKey)
      faults.push({
        variable: name,
        problem: "is set, but neither LOG_SIGNING_KEY nor LOG_SIGNING_KEY_FILE is",
        expected: "the log's key as well: without one there is no log",
      });
  return faults;
};
