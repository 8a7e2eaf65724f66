import { type Cluster, CLUSTERS, clusterOfNode } from "./cluster.ts";
import type { Values } from "./environment.ts";
import type { ConfigFault } from "./variable.ts";

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

/** Workers are replicas: they need what replicas share, and what may run once only has another process. */
const workerFaults = ({
  workers = 1,
  databaseUrl,
  rpcUrls,
  witnessLogs,
}: Values): ReadonlyArray<ConfigFault> => {
  if (workers === 1) return [];
  const refuse = (expected: string): ConfigFault => ({
    variable: "WORKERS",
    problem: `is ${workers}`,
    expected,
  });
  return [
    ...(databaseUrl === null
      ? [refuse("1, or DATABASE_URL as well: only one process writes files in DATA_DIR")]
      : []),
    ...(rpcUrls === null
      ? [refuse("1, or SOLANA_RPC_URL as well: only one process runs the embedded ledger")]
      : []),
    ...(witnessLogs
      ? [refuse("1, or no WITNESS_LOGS: a witness is one process; run it as cli witness")]
      : []),
  ];
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
  for (const [name, value] of Object.entries({
    DATABASE_DIRECT_URL: values.databaseDirectUrl,
    DATABASE_READ_URL: values.databaseReadUrl,
  }))
    if (value && values.databaseUrl === null)
      faults.push(
        missing("DATABASE_URL", `the database that takes writes, because ${name} is set`),
      );
  if (values.otlpHeaders && values.otlpEndpoint === null)
    faults.push(
      missing("OTEL_EXPORTER_OTLP_ENDPOINT", "the collector, because its headers are set"),
    );
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
  return [...faults, ...workerFaults(values), ...logFaults(values)];
};

/** The faults of the settlement log's variables. */
const logFaults = (values: Values): ReadonlyArray<ConfigFault> => {
  const faults: Array<ConfigFault> = [];
  const { rpcUrls, logName, logKey, logKeyFile, logWitnesses, logWitnessesAppendOnly } = values;
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
  for (const [name, value] of Object.entries({
    LOG_NAME: logName,
    LOG_WITNESSES: logWitnesses,
    LOG_WITNESSES_APPEND_ONLY: logWitnessesAppendOnly,
    NATS_URL: values.natsUrl,
  }))
    if (value && !hasKey)
      faults.push({
        variable: name,
        problem: "is set, but neither LOG_SIGNING_KEY nor LOG_SIGNING_KEY_FILE is",
        expected: "the log's key as well: without one there is no log",
      });
  return faults;
};
