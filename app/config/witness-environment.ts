import { Config, ConfigProvider, Effect, Redacted } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { type LOG_LEVELS, type LogFormat, usualLogFormat } from "../lifecycle/logging.ts";
import type { WitnessSettings } from "../log/witness-layer.ts";
import { environment as serviceEnvironment, logLines } from "./environment.ts";
import * as kinds from "./kinds.ts";
import { misspelt } from "./misspelt.ts";
import { type RpcUrls, webSocketUrlOf } from "./settings.ts";
import { variableNames } from "./variable-names.ts";
import { type ConfigFault, ConfigInvalid, splitReadings, variable } from "./variable.ts";

/** The settings of a witness that runs by itself. */
export type LoneWitnessSettings = {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The address under which logs reach it; null for the one that it listens on. */
  readonly url: URL | null;
  readonly dataDir: string;
  readonly rpcUrls: RpcUrls;
  /** The WebSocket of a node; it may hold an API key. */
  readonly webSocketUrl: Redacted.Redacted<URL>;
  /** Null until a service says it, which the witness joins. */
  readonly deployment: Deployment | null;
  /** A member that is null is made when the witness joins a service's log. */
  readonly witness: { readonly [Name in keyof WitnessSettings]: WitnessSettings[Name] | null };
  readonly logLevel: keyof typeof LOG_LEVELS;
  readonly logFormat: LogFormat;
};

const NEEDED = {
  rpcUrls: "SOLANA_RPC_URL",
  custodyProgram: "CUSTODY_PROGRAM_ID",
  attestorProgram: "ATTESTOR_PROGRAM_ID",
  logsFile: "WITNESS_LOGS",
  keyFile: "WITNESS_KEY_FILE",
  name: "WITNESS_NAME",
} as const;

const WITH_JOIN_SERVICE = "needed; with `--join` the service's";

/** The variables of a witness that runs by itself. */
export const witnessVariables = {
  host: variable("HOST", kinds.host, "127.0.0.1", "the interface to listen on"),
  port: variable("PORT", kinds.wholeNumber(0, 65_535), 3001, "0 takes a free one"),
  url: variable(
    "WITNESS_URL",
    kinds.serviceUrl,
    null,
    "the address under which logs reach it, without `/witness`",
    "the one that it listens on",
  ),
  dataDir: variable(
    "DATA_DIR",
    kinds.text,
    "./witness-data",
    "the checkpoints and tiles that were witnessed",
  ),
  rpcUrls: variable(
    NEEDED.rpcUrls,
    kinds.listOf(kinds.rpcUrl),
    null,
    "the witness's own node; several fail over in that order; `--rpc` goes before it",
    "needed",
  ),
  webSocketUrl: variable(
    "SOLANA_WS_URL",
    kinds.webSocketUrl,
    null,
    "the WebSocket of that node; while it tells of the log's growth, the node is read every half minute and for each cosignature, else every two seconds; `--ws` goes before it",
    "the node's own port, or the next",
  ),
  custodyProgram: variable(
    NEEDED.custodyProgram,
    kinds.ledgerAddress,
    null,
    "the custody program of the logs' ledger",
    WITH_JOIN_SERVICE,
  ),
  attestorProgram: variable(
    NEEDED.attestorProgram,
    kinds.ledgerAddress,
    null,
    "the attestor program of the logs' ledger",
    WITH_JOIN_SERVICE,
  ),
  logsFile: variable(
    NEEDED.logsFile,
    kinds.text,
    null,
    "a file with a line `VKEY URL` for each log",
    "needed; with `--join` the file `logs.txt` in `DATA_DIR`",
  ),
  keyFile: variable(
    NEEDED.keyFile,
    kinds.text,
    null,
    "the file of the witness's key, which may say who holds it ([keys.md](keys.md))",
    "needed; with `--join` the file `witness.key` in `DATA_DIR`, made with a new key",
  ),
  name: variable(
    NEEDED.name,
    kinds.text,
    null,
    "the witness's name",
    "needed; with `--join` `witness-` and the first digits of its key",
  ),
  ...logLines,
};

const environment = Config.all(witnessVariables);

/**
 * The settings of an environment. Fails with all faults at once. With `joins` only the node is needed: the rest is told
 * by the service that the witness joins, or made.
 */
export const readLoneWitnessSettings = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
  joins = false,
) {
  const readings = yield* Effect.orDie(environment.parse(ConfigProvider.fromEnvRecord(env)));
  const { values, faults: unread } = splitReadings(readings);
  // The service's other variables may be set as well, for a service beside it.
  const variables = [
    ...new Set([...variableNames(environment), ...variableNames(serviceEnvironment)]),
  ];
  const faults = [...unread, ...misspelt(Object.keys(env), variables)];
  const needed = joins ? { rpcUrls: NEEDED.rpcUrls } : NEEDED;
  const unset = Object.entries(needed).flatMap(([key, name]): ReadonlyArray<ConfigFault> =>
    values[key as keyof typeof NEEDED] === null
      ? [{ variable: name, problem: "is not set", expected: "a value: a witness needs it" }]
      : [],
  );
  if (joins && (values.custodyProgram === null) !== (values.attestorProgram === null))
    unset.push({
      variable: "CUSTODY_PROGRAM_ID and ATTESTOR_PROGRAM_ID",
      problem: "are not both set",
      expected: "both or neither: the service that the witness joins names its programs",
    });
  const { rpcUrls, custodyProgram, attestorProgram } = values;
  const [first, ...others] = rpcUrls ?? [];
  if (faults.length > 0 || unset.length > 0)
    return yield* new ConfigInvalid({ faults: [...faults, ...unset] });
  if (!first) return yield* Effect.die(new Error("a setting that is needed was not missed"));
  const settings: LoneWitnessSettings = {
    host: values.host ?? "",
    port: values.port ?? 0,
    url: values.url ?? null,
    dataDir: values.dataDir ?? "",
    rpcUrls: [Redacted.make(first), ...others.map((url) => Redacted.make(url))],
    webSocketUrl: Redacted.make(values.webSocketUrl ?? webSocketUrlOf(first)),
    deployment: custodyProgram && attestorProgram ? { custodyProgram, attestorProgram } : null,
    witness: {
      name: values.name ?? null,
      keyFile: values.keyFile ?? null,
      logsFile: values.logsFile ?? null,
    },
    logLevel: values.logLevel ?? "info",
    logFormat: values.logFormat ?? usualLogFormat(),
  };
  return settings;
});

/** The address that a witness listens on with a port, and the one under which logs reach it: what a policy names. */
export const witnessAddresses = (
  { host, url }: Pick<LoneWitnessSettings, "host" | "url">,
  port: number,
): { readonly listens: string; readonly url: string } => {
  const listens = `http://${host.includes(":") ? `[${host}]` : host}:${port}/witness`;
  return { listens, url: url === null ? listens : `${url.href.replace(/\/$/, "")}/witness` };
};
