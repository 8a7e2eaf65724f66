import { Config } from "effect";
import { CLUSTERS } from "./cluster.ts";
import * as kinds from "./kinds.ts";
import { supportedMint } from "./supported-mints.ts";
import { type splitReadings, variable } from "./variable.ts";

const port = kinds.wholeNumber(0, 65_535);
const perMinute = kinds.wholeNumber(1, 1_000_000);

const program = (name: string) =>
  variable(name, kinds.ledgerAddress, null, "required with `SOLANA_RPC_URL`", "the local one");

/** The variables of the log lines that a service or a witness writes. */
export const logLines = {
  logLevel: variable(
    "LOG_LEVEL",
    kinds.oneOf("debug", "info", "warn", "error"),
    "info" as const,
    "the least that is logged",
  ),
  logFormat: variable(
    "LOG_FORMAT",
    kinds.oneOf("pretty", "json"),
    null,
    "the form of log lines",
    "`pretty` on a terminal, else `json`",
  ),
};

/** Every variable with its kind, its default and its meaning; docs/settings.md is made of them. */
export const variables = {
  host: variable("HOST", kinds.host, "127.0.0.1", "the interface to listen on"),
  port: variable("PORT", port, 3000, "0 takes a free one; a taken port is an error"),
  metricsPort: variable(
    "METRICS_PORT",
    port,
    null,
    "a listener of its own on `HOST` for `/metrics`, for which `PORT` then answers 404, and for the operator's page at `/`",
  ),
  workers: variable(
    "WORKERS",
    kinds.wholeNumber(1, 64),
    1,
    'processes that share `PORT`, to use as many cores; `--workers N` says it too; more than 1 needs `DATABASE_URL` and `SOLANA_RPC_URL` ([scale.md](scale.md), "Several workers")',
  ),
  dataDir: variable(
    "DATA_DIR",
    kinds.text,
    "./data",
    "the store, the local ledger, generated keys; made for its user alone (0700, files 0600), else left as it is with a warning; one service at a time",
  ),
  rpcUrls: variable(
    "SOLANA_RPC_URL",
    kinds.listOf(kinds.rpcUrl),
    null,
    "several nodes of one cluster fail over in that order",
    "the embedded ledger",
  ),
  webSocketUrl: variable(
    "SOLANA_WS_URL",
    kinds.webSocketUrl,
    null,
    "the WebSocket of a node; its signals let a sync begin at once, and nothing is lost without them",
    "the node's own port, or the next",
  ),
  yellowstoneUrl: variable(
    "YELLOWSTONE_URL",
    kinds.grpcUrl,
    null,
    'a Yellowstone gRPC server, whose signals replace those of the WebSocket ([nodes.md](nodes.md), "Pushed signals")',
  ),
  yellowstoneTokenFile: variable(
    "YELLOWSTONE_TOKEN_FILE",
    kinds.text,
    null,
    "the file of that server's `x-token`, read at each connection",
  ),
  cluster: variable(
    "SOLANA_CLUSTER",
    kinds.oneOf(...CLUSTERS),
    null,
    "the cluster of the nodes",
    "from the URL",
  ),
  custodyProgram: program("CUSTODY_PROGRAM_ID"),
  attestorProgram: program("ATTESTOR_PROGRAM_ID"),
  custodyPins: variable(
    "CUSTODY_PROGRAM_SHA256",
    kinds.listOf(kinds.programHash),
    [],
    'with another program on the ledger the service is not ready, and neither prepares nor relays ([deploy.md](deploy.md), "Pins")',
  ),
  attestorPins: variable(
    "ATTESTOR_PROGRAM_SHA256",
    kinds.listOf(kinds.programHash),
    [],
    "the same for the attestor program",
  ),
  supportedMints: variable(
    "SUPPORTED_MINTS",
    kinds.listOf(supportedMint),
    null,
    "the mints whose amounts are shown as money; of USDC the address is enough",
    "USDC of the cluster, or the local mock of it",
  ),
  // Its WebSocket takes the next port.
  localPort: variable(
    "LOCAL_LEDGER_PORT",
    kinds.wholeNumber(0, 65_534),
    8899,
    "JSON-RPC; its WebSocket takes the next port; 0 takes free ones",
  ),
  localDemo: variable(
    "LOCAL_LEDGER_DEMO",
    kinds.flag,
    true,
    "demo merchants, agents and one escrow in each state, made at the first start",
  ),
  localFinality: variable(
    "LOCAL_LEDGER_FINALITY_SLOTS",
    kinds.wholeNumber(0, 150),
    0,
    "slots from `confirmed` to `finalized` on the embedded ledger; a cluster takes 32",
  ),
  localWitnesses: variable(
    "LOCAL_LEDGER_WITNESSES",
    kinds.flag,
    true,
    'three witnesses of the log, each in a process of its own; all three are yours, which shows the mechanism and no independence; none with `LOG_WITNESSES` ([log.md](log.md), "Your own three witnesses")',
  ),
  evidenceKey: variable(
    "EVIDENCE_SIGNING_KEY",
    kinds.signingKey,
    null,
    "the key that signs packets; without one they are `unsigned`",
    "generated on the local ledger, none on a remote one",
  ),
  evidenceKeyFile: variable(
    "EVIDENCE_SIGNING_KEY_FILE",
    kinds.text,
    null,
    "the file of that key, instead; it may say who holds it ([keys.md](keys.md))",
  ),
  evidenceRetiredKeys: variable(
    "EVIDENCE_RETIRED_KEYS",
    kinds.formerKeys,
    null,
    "the keys that signed earlier packets",
  ),
  logName: variable(
    "LOG_NAME",
    kinds.logName,
    null,
    "begins the settlement log's origin; needed with a log key on a remote ledger, and never changed",
    "`localhost` on the local ledger",
  ),
  logKey: variable(
    "LOG_SIGNING_KEY",
    kinds.signingKey,
    null,
    "signs the settlement log, another key than the evidence's; without one there is no log",
    "generated on the local ledger, none on a remote one",
  ),
  logKeyFile: variable(
    "LOG_SIGNING_KEY_FILE",
    kinds.text,
    null,
    "the file of that key, instead; it may say who holds it ([keys.md](keys.md))",
  ),
  logWitnesses: variable(
    "LOG_WITNESSES",
    kinds.text,
    null,
    'path of a policy that names the log\'s witnesses with a node of their own, and their quorum ([log.md](log.md), "Operating a log")',
  ),
  logWitnessesAppendOnly: variable(
    "LOG_WITNESSES_APPEND_ONLY",
    kinds.text,
    null,
    "path of a policy that names ordinary witnesses, which only see the log grow, and their quorum",
  ),
  natsUrl: variable(
    "NATS_URL",
    kinds.natsUrl,
    null,
    'a NATS server with JetStream, which gets each published entry of the log once ([log.md](log.md), "The log in NATS JetStream")',
  ),
  archivePeers: variable(
    "ARCHIVE_PEERS",
    kinds.listOf(kinds.serviceUrl),
    [],
    "other services of the same ledger; each sync asks them for the packets of archived escrows whose bytes this service has never seen, and takes only what the ledger's digest confirms",
  ),
  witnessLogs: variable(
    "WITNESS_LOGS",
    kinds.text,
    null,
    'with the next two the service is a witness of other services\' logs: a file with a line `VKEY URL` for each ([log.md](log.md), "Run a witness")',
  ),
  witnessKeyFile: variable(
    "WITNESS_KEY_FILE",
    kinds.text,
    null,
    "the file of the witness's own key, which may say who holds it ([keys.md](keys.md))",
  ),
  witnessName: variable("WITNESS_NAME", kinds.text, null, "the witness's name"),
  databaseUrl: variable(
    "DATABASE_URL",
    kinds.databaseUrl,
    null,
    "a database that several replicas share, one of which syncs",
    "files in `DATA_DIR`",
  ),
  databaseDirectUrl: variable(
    "DATABASE_DIRECT_URL",
    kinds.databaseUrl,
    null,
    'the server itself, where `DATABASE_URL` is a pooler in transaction mode: replicas hear of each other over it, and poll without it ([scale.md](scale.md), "Several replicas")',
  ),
  databaseReadUrl: variable(
    "DATABASE_READ_URL",
    kinds.databaseUrl,
    null,
    'a streaming standby of that database, whose rows are shown once it holds what the primary does ([scale.md](scale.md), "Several replicas")',
  ),
  syncIntervalSeconds: variable(
    "SYNC_INTERVAL_SECONDS",
    kinds.wholeNumber(0, 86_400),
    null,
    "0: no background sync",
    "2 on the local ledger, 30 on a remote one",
  ),
  scanEverySeconds: variable(
    "SNAPSHOT_INTERVAL_SECONDS",
    kinds.wholeNumber(0, 2_592_000),
    0,
    "interval of scans for merchants which history did not show, 0 for none; escrows never need one: the ledger's count and root tell what is missing",
  ),
  reads: variable(
    "RATE_LIMIT_READS",
    perMinute,
    1200,
    "requests a minute for each client address; each further 8 KiB that a body begins counts as one more",
  ),
  prepare: variable("RATE_LIMIT_PREPARE", perMinute, 600, "the same for prepare operations"),
  relay: variable(
    "RATE_LIMIT_RELAY",
    perMinute,
    120,
    "the same for relays, `/x402/settle` and `/x402/verify`; what is sent counts for its fee payer too",
  ),
  sync: variable("RATE_LIMIT_SYNC", perMinute, 20, "the same for `POST /v1/indexer/sync`"),
  trustedProxies: variable(
    "TRUSTED_PROXIES",
    kinds.listOf(kinds.addressBlock),
    [],
    "whose `X-Forwarded-For`, `-Proto` and `-Host` are believed",
  ),
  publicUrl: variable(
    "PUBLIC_URL",
    kinds.publicOrigin,
    null,
    "the address under which others reach the service; [wallet links](wallets.md) and `sdk_call.install` begin with it, without it there are no links",
  ),
  corsOrigins: variable(
    "CORS_ORIGINS",
    kinds.listOf(kinds.webOrigin),
    ["*"],
    "the pages that may call the service",
  ),
  enforceBetaLimits: variable(
    "ENFORCE_BETA_LIMITS",
    kinds.flag,
    false,
    "refuse what is beyond the planned beta's limits",
  ),
  otlpEndpoint: variable(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    kinds.serviceUrl,
    null,
    'a collector for traces and logs over OTLP/HTTP ([operating.md](operating.md), "Traces")',
  ),
  otlpHeaders: variable(
    "OTEL_EXPORTER_OTLP_HEADERS",
    kinds.headerList,
    null,
    "the headers of requests to it, such as a token",
  ),
  ...logLines,
};

/** The readings of all variables. */
export const environment = Config.all(variables);

/** The values that could be read. A faulty variable's member is undefined. */
export type Values = ReturnType<typeof splitReadings<Config.Success<typeof environment>>>["values"];
