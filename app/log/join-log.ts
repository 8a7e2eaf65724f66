import { join } from "node:path";
import { Duration, Effect } from "effect";
import { readIfThere, writeDurably } from "../../adapters/bun/durable-file.ts";
import { createNewKeyFile, readKeyFile } from "../../adapters/signer/key-file.ts";
import { keyOfText } from "../../adapters/signer/key-text.ts";
import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { SettlementError } from "../../client/settlement-error.ts";
import { parseAddress } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { parseVerifierKey, printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { WitnessUnusable } from "../../ports/log/witness-state.ts";
import type { LoneWitnessSettings } from "../config/witness-environment.ts";
import { parseWitnessedLogs } from "../config/witnessed-logs.ts";
import type { WitnessSettings } from "./witness-layer.ts";

/** The file of the key of a witness that has joined a log, in its data directory, and that of its list of logs. */
export const JOINED_KEY_FILE = "witness.key";
export const JOINED_LOGS_FILE = "logs.txt";

const ANSWER_MS = 10_000;
/** The pause before a service without an answer is asked again doubles from the first to the last, milliseconds. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 2_000;

/** What a service says of its log. */
type Told = {
  /** One, and the next one while the log's keys are rotated. */
  readonly vkeys: ReadonlyArray<string>;
  readonly deployment: Deployment;
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** What a status says of the log, or why it says nothing. */
const toldIn = (status: unknown): Told | string => {
  const { data } = (status ?? {}) as {
    readonly data?: {
      readonly log?: { readonly vkey?: unknown; readonly next_vkey?: unknown } | null;
      readonly programs?: Readonly<Record<string, { readonly address?: unknown } | undefined>>;
    };
  };
  const texts = [data?.log?.vkey, data?.log?.next_vkey].map(textOf).filter((text) => text !== "");
  const [custodyProgram, attestorProgram] = ["custody", "attestor"].map((name) =>
    parseAddress(textOf(data?.programs?.[name]?.address)),
  );
  if (texts.length === 0) return "it has signed no log yet";
  const vkeys = texts.map((text) => {
    const key = parseVerifierKey(text);
    return "fault" in key ? null : printVerifierKey(key.value);
  });
  if (vkeys.includes(null) || custodyProgram === undefined || attestorProgram === undefined)
    return "its status is none of this service's";
  return {
    vkeys: vkeys.filter((vkey) => vkey !== null),
    deployment: { custodyProgram, attestorProgram },
  };
};

const ask = async (service: string): Promise<Told | string> => {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetchDirectly(`${service}/v1/status`, { signal });
    return answer.ok ? toldIn(await answer.json()) : `it answered ${answer.status}`;
  } catch (cause) {
    return cause instanceof SettlementError ? `${cause.message} ${cause.cure}` : "no answer";
  }
};

/** Asks a service until it says which log it keeps. Each new reason why it does not is logged. */
const askUntilTold = Effect.fnUntraced(function* (service: string) {
  let pauseMs = FIRST_PAUSE_MS;
  let last = "";
  for (;;) {
    const told = yield* Effect.promise(() => ask(service));
    if (typeof told !== "string") return told;
    if (told !== last && pauseMs === LAST_PAUSE_MS) {
      last = told;
      yield* Effect.logWarning("the service does not say yet which log it keeps", {
        service,
        reason: told,
      });
    }
    yield* Effect.sleep(Duration.millis(pauseMs));
    pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS);
  }
});

/** Writes a line for each key of a log into the list, unless they are there. Another key under the same name is refused. */
const addToList = Effect.fnUntraced(function* (
  path: string,
  service: string,
  vkeys: ReadonlyArray<string>,
) {
  const unusable = (reason: string) => new WitnessUnusable({ source: path, reason });
  const read = Effect.tryPromise({
    try: () => readIfThere(path),
    catch: () => unusable("the file cannot be read"),
  });
  const text = (yield* read) ?? "";
  const logs = text.trim() === "" ? { value: [] } : parseWitnessedLogs(text);
  if ("fault" in logs) return yield* unusable(logs.fault);
  const listed = new Set(logs.value.map(({ key }) => printVerifierKey(key)));
  const missing = vkeys.filter((vkey) => !listed.has(vkey));
  if (missing.length === 0) return;
  const other = missing.find((vkey) =>
    logs.value.some(({ key }) => vkey.startsWith(`${key.name}+`)),
  );
  if (other !== undefined)
    return yield* unusable(
      `${service} says that the key of its log is ${other} now, and here stands another one. Ask its operator whether that is right, and then change the line yourself`,
    );
  const lines = missing.map((vkey) => `${vkey} ${service}\n`).join("");
  const added = `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${lines}`;
  yield* Effect.tryPromise({
    try: () => writeDurably(path, added, 0o600),
    catch: () => unusable("the file cannot be written"),
  });
});

const keyOf = Effect.fnUntraced(function* (path: string) {
  return keyOfText(yield* readKeyFile(path))?.publicKey ?? null;
});

const unusable = ({ source, reason }: { readonly source: string; readonly reason: string }) =>
  new WitnessUnusable({ source, reason });

/**
 * What a witness needs that joins a service's log, made in its data directory where the settings name nothing else: a
 * key, a name after it, and the list of logs with this one. Waits until the service says which log it keeps. The first
 * answer counts for good: another key under the log's name is refused later.
 */
export const joinLog = Effect.fnUntraced(function* (
  service: string,
  dataDir: string,
  { deployment, witness }: Pick<LoneWitnessSettings, "deployment" | "witness">,
) {
  const keyFile = witness.keyFile ?? join(dataDir, JOINED_KEY_FILE);
  if (witness.keyFile === null) yield* Effect.mapError(createNewKeyFile(keyFile), unusable);
  const publicKey = yield* Effect.mapError(keyOf(keyFile), unusable);
  const told = yield* askUntilTold(service);
  const logsFile = witness.logsFile ?? join(dataDir, JOINED_LOGS_FILE);
  yield* addToList(logsFile, service, told.vkeys);
  const name = witness.name ?? `witness-${publicKey?.toHex().slice(0, 8) ?? ""}`;
  return {
    deployment: deployment ?? told.deployment,
    witness: { name, keyFile, logsFile } satisfies WitnessSettings,
  };
});
