import { readFile } from "node:fs/promises";
import { Data, Duration, Effect, Layer, Ref } from "effect";
import {
  logSignerFromFile,
  logSignerFromText,
  logSignerGenerated,
  logSignerNone,
} from "../../adapters/signer/log-signer.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { parseLogPolicy, policyFaultText } from "../../core/log/policy/parse-log-policy.ts";
import { LogPublisher, makeLogPublisher } from "../../core/use-cases/log/log-publisher.ts";
import { LogStreaming, makeLogStreaming } from "../../core/use-cases/log/log-streaming.ts";
import {
  askedPolicy,
  faultOfPolicies,
  WitnessPolicies,
  type WitnessPoliciesValue,
} from "../../core/use-cases/log/witness-policies.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { LogKeyUnusable, LogSigner, publicKeysOf } from "../../ports/log/log-signer.ts";
import type { Settings } from "../config/settings.ts";
import { type PolicySetting, witnessFile } from "./witness-files.ts";

/** The name of the embedded ledger's log, which nobody else reads. */
const LOCAL_LOG_NAME = "localhost";

/** A policy of the log's witnesses cannot be used. */
export class LogWitnessesUnusable extends Data.TaggedError("LogWitnessesUnusable")<{
  /** What names the file; null for the usual one in the data directory. */
  readonly setting: PolicySetting | null;
  readonly path: string;
  readonly reason: string;
}> {
  override get message() {
    const named = this.setting === null ? this.path : `${this.setting} ${this.path}`;
    return `${named} cannot be used: ${this.reason}`;
  }
}

/** Where a log's settings are read from. */
export type LogSource = {
  readonly settings: Pick<
    Settings,
    "ledger" | "logName" | "logKey" | "logKeyFile" | "logWitnesses" | "logWitnessesAppendOnly"
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
      const others = new Set((yield* evidenceKeys).map(hash32FromBytes));
      // Looked at each time: a second key can come while the process runs.
      const keys = Effect.flatMap(signer.key.keys, (own) => {
        const isOwn = own.every(({ publicKey }) => !others.has(hash32FromBytes(publicKey)));
        return isOwn
          ? Effect.succeed(own)
          : new LogKeyUnusable({
              source: source.settings.logKeyFile ?? "LOG_SIGNING_KEY",
              reason: "it is an evidence key; the log needs a key of its own",
            });
      });
      yield* keys;
      return { ...signer, key: { ...signer.key, keys } };
    }),
  ).pipe(Layer.provide(anySigner(source)));

/** Whether this process signs a log. */
const hasLog = ({ ledger, logKey, logKeyFile }: LogSource["settings"]): boolean =>
  ledger.kind === "embedded" || logKey !== null || logKeyFile !== null;

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "unknown error";

/**
 * The policy in the file of a setting; null where no setting names one, and the usual file is not there. Fails when it
 * cannot be used with the service's keys.
 */
const readPolicy = Effect.fnUntraced(function* (
  setting: PolicySetting,
  given: string | null,
  { settings, dataDir }: LogSource,
) {
  if (given === null && !hasLog(settings)) return null;
  const path = witnessFile(setting, given, dataDir);
  const refuse = (reason: string) =>
    new LogWitnessesUnusable({ setting: given === null ? null : setting, path, reason });
  const text = yield* Effect.tryPromise({ try: () => readFile(path, "utf8"), catch: codeOf }).pipe(
    Effect.catch((code) =>
      given === null && code === "ENOENT"
        ? Effect.succeed(null)
        : refuse(`${code}; name a file that the service's user can read`),
    ),
  );
  if (text === null) return null;
  const policy = parseLogPolicy(text, yield* evidenceKeys);
  if ("fault" in policy) return yield* refuse(policyFaultText(policy));
  const without = policy.value.witnesses.find(({ url }) => url === null);
  if (without !== undefined) return yield* refuse(`the witness ${without.name} has no URL`);
  const own = new Set((yield* publicKeysOf(yield* LogSigner)).map(hash32FromBytes));
  const same = policy.value.witnesses.find(({ key }) => own.has(hash32FromBytes(key.publicKey)));
  if (same !== undefined) return yield* refuse(`the witness ${same.name} has the log's own key`);
  return policy.value satisfies LogPolicy;
});

/**
 * The log's witnesses by what they state. Fails when a policy cannot be used with the service's keys, or both cannot
 * together.
 */
export const readWitnesses = Effect.fnUntraced(function* (source: LogSource) {
  const { logWitnesses, logWitnessesAppendOnly: given } = source.settings;
  const setting = "LOG_WITNESSES_APPEND_ONLY";
  const policies = {
    onLedger: yield* readPolicy("LOG_WITNESSES", logWitnesses, source),
    appendOnly: yield* readPolicy(setting, given, source),
  };
  const reason = faultOfPolicies(policies);
  if (reason === null) return policies;
  const path = witnessFile(setting, given, source.dataDir);
  const named = given === null ? null : setting;
  return yield* new LogWitnessesUnusable({ setting: named, path, reason });
});

/** Between two looks at the files of the witnesses. */
const LOOK_EVERY = Duration.seconds(2);

/**
 * Takes over the policies of the files whenever they change. Those that cannot be used change nothing; they are logged
 * once, and told with the policies for as long as they stay so.
 */
const followWitnesses = Effect.fnUntraced(function* (
  source: LogSource,
  policies: Ref.Ref<WitnessPoliciesValue>,
  setPolicy: LogPublisher["Service"]["setPolicy"],
) {
  let last = JSON.stringify(yield* Ref.get(policies));
  for (;;) {
    yield* Effect.sleep(LOOK_EVERY);
    const read = yield* Effect.result(readWitnesses(source));
    // What keeps the log's key from being read is no fault of a policy. The log tells it itself.
    if (read._tag === "Failure" && read.failure._tag === "LogKeyUnusable") continue;
    const text = read._tag === "Success" ? JSON.stringify(read.success) : read.failure.message;
    if (text === last) continue;
    last = text;
    if (read._tag === "Failure") {
      yield* Effect.logError(text);
      yield* Ref.update(policies, (kept) => ({ ...kept, problem: text }));
      continue;
    }
    const policy = askedPolicy(read.success);
    if (policy === null) {
      yield* Ref.update(policies, ({ onLedger, appendOnly }) => ({ onLedger, appendOnly }));
      continue;
    }
    yield* Ref.set(policies, read.success);
    yield* setPolicy(policy);
    const witnesses = policy.witnesses.map(({ name }) => name);
    yield* Effect.logInfo("the log's witnesses have changed", { witnesses });
  }
});

/**
 * The process's publisher, and the witnesses of its settings, which it asks. They are read again when a file changes,
 * and when one appears.
 */
export const logPublisher = (source: LogSource) =>
  Layer.effect(
    LogPublisher,
    Effect.gen(function* () {
      const policies = yield* WitnessPolicies;
      const publisher = yield* makeLogPublisher(askedPolicy(yield* Ref.get(policies)));
      if (hasLog(source.settings))
        yield* Effect.forkScoped(followWitnesses(source, policies, publisher.setPolicy));
      return publisher;
    }),
  ).pipe(
    Layer.provideMerge(
      Layer.effect(WitnessPolicies, Effect.flatMap(readWitnesses(source), Ref.make)),
    ),
  );

/** What streams the log's entries where a server for them is configured; its library loads only then. */
export const logStreaming = ({ natsUrl }: Pick<Settings, "natsUrl">) =>
  natsUrl === null
    ? Layer.empty
    : Layer.effect(LogStreaming, makeLogStreaming).pipe(
        Layer.provide(
          Layer.unwrap(
            Effect.promise(async () =>
              (await import("../../adapters/nats/log-stream-nats.ts")).logStreamNats(natsUrl),
            ),
          ),
        ),
      );
