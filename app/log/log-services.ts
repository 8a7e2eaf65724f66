import { readFile } from "node:fs/promises";
import { Data, Duration, Effect, Layer } from "effect";
import {
  logSignerFromFile,
  logSignerFromText,
  logSignerGenerated,
  logSignerNone,
} from "../../adapters/signer/log-signer.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { parseLogPolicy } from "../../core/log/policy/parse-log-policy.ts";
import { LogPublisher, makeLogPublisher } from "../../core/use-cases/log/log-publisher.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { LogKeyUnusable, LogSigner } from "../../ports/log/log-signer.ts";
import type { Settings } from "../config/settings.ts";

/** The name of the embedded ledger's log, which nobody else reads. */
const LOCAL_LOG_NAME = "localhost";

/** The policy of LOG_WITNESSES cannot be used. */
export class LogWitnessesUnusable extends Data.TaggedError("LogWitnessesUnusable")<{
  readonly path: string;
  readonly reason: string;
}> {
  override get message() {
    return `LOG_WITNESSES ${this.path} cannot be used: ${this.reason}`;
  }
}

/** Where a log's settings are read from. */
export type LogSource = {
  readonly settings: Pick<
    Settings,
    "ledger" | "logName" | "logKey" | "logKeyFile" | "logWitnesses"
  >;
  /** Absolute. */
  readonly dataDir: string;
};

/** A key is generated only for play money. Without one on a remote ledger there is no log. */
const anySigner = ({ settings, dataDir }: LogSource): Layer.Layer<LogSigner, LogKeyUnusable> => {
  const { ledger, logKey, logKeyFile, logName } = settings;
  const name = logName ?? LOCAL_LOG_NAME;
  if (logKey !== null) return logSignerFromText(name, logKey, dataDir);
  if (logKeyFile !== null) return logSignerFromFile(name, logKeyFile);
  return ledger.kind === "embedded" ? logSignerGenerated(name, dataDir) : logSignerNone;
};

/** The public keys that sign or have signed evidence. */
const evidenceKeys = Effect.map(EvidenceSigner, ({ current, former }) =>
  [current, ...former].flatMap((key) => (key === null ? [] : [key.publicKey])),
);

/** The log's name and key. Fails when that key signs evidence as well: one key has one purpose. */
export const logSigner = (
  source: LogSource,
): Layer.Layer<LogSigner, LogKeyUnusable, EvidenceSigner> =>
  Layer.effect(
    LogSigner,
    Effect.gen(function* () {
      const signer = yield* LogSigner;
      if (signer === null) return null;
      const own = hash32FromBytes(signer.key.publicKey);
      const others = yield* evidenceKeys;
      if (!others.some((key) => hash32FromBytes(key) === own)) return signer;
      return yield* new LogKeyUnusable({
        source: source.settings.logKeyFile ?? "LOG_SIGNING_KEY",
        reason: "it is an evidence key; the log needs a key of its own",
      });
    }),
  ).pipe(Layer.provide(anySigner(source)));

/**
 * The witnesses and their quorum, null without LOG_WITNESSES. Fails when the policy cannot be used with the service's
 * keys.
 */
export const readWitnesses = Effect.fnUntraced(function* (path: string | null) {
  if (path === null) return null;
  const refuse = (reason: string) => new LogWitnessesUnusable({ path, reason });
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) =>
      refuse(
        `${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error"}; name a file that the service's user can read`,
      ),
  });
  const policy = parseLogPolicy(text, yield* evidenceKeys);
  if ("fault" in policy) return yield* refuse(policy.fault);
  const without = policy.value.witnesses.find(({ url }) => url === null);
  if (without !== undefined) return yield* refuse(`the witness ${without.name} has no URL`);
  const signer = yield* LogSigner;
  const own = signer && hash32FromBytes(signer.key.publicKey);
  const same = policy.value.witnesses.find(({ key }) => hash32FromBytes(key.publicKey) === own);
  if (same !== undefined) return yield* refuse(`the witness ${same.name} has the log's own key`);
  return policy.value satisfies LogPolicy;
});

/** Between two looks at the file of LOG_WITNESSES. */
const LOOK_EVERY = Duration.seconds(2);

/** Takes over the policy of a file whenever it changes. One that cannot be used changes nothing, and is logged once. */
const followWitnesses = Effect.fnUntraced(function* (
  path: string,
  setPolicy: LogPublisher["Service"]["setPolicy"],
  first: LogPolicy,
) {
  let known = JSON.stringify(first);
  for (;;) {
    yield* Effect.sleep(LOOK_EVERY);
    const read = yield* Effect.result(readWitnesses(path));
    const text = read._tag === "Success" ? JSON.stringify(read.success) : read.failure.message;
    if (text === known) continue;
    known = text;
    if (read._tag === "Failure") yield* Effect.logError(text);
    else if (read.success !== null) {
      yield* setPolicy(read.success);
      const witnesses = read.success.witnesses.map(({ name }) => name);
      yield* Effect.logInfo("LOG_WITNESSES has changed", { witnesses });
    }
  }
});

/** The process's publisher, with the witnesses of its settings. They are read again when the file changes. */
export const logPublisher = ({ settings: { logWitnesses } }: LogSource) =>
  Layer.effect(
    LogPublisher,
    Effect.gen(function* () {
      const policy = yield* readWitnesses(logWitnesses);
      const publisher = yield* makeLogPublisher(policy);
      if (logWitnesses !== null && policy !== null)
        yield* Effect.forkScoped(followWitnesses(logWitnesses, publisher.setPolicy, policy));
      return publisher;
    }),
  );
