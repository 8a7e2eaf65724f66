import { resolve } from "node:path";
import { Effect, Layer } from "effect";
import { witnessKeyFromFile } from "../../adapters/signer/log-signer.ts";
import { evidenceSignerNone } from "../../adapters/signer/evidence-signer.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { standingBesideKey } from "../../core/use-cases/log/signing/open-log.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { LogSigner, publicKeysOf } from "../../ports/log/log-signer.ts";
import { WitnessKey } from "../../ports/log/witness-state.ts";
import type { Settings } from "../config/settings.ts";
import { readWitnessedLogs } from "../config/witnessed-logs.ts";
import { evidenceKeys, evidenceSigner } from "../key-layers.ts";
import { logSigner, type LogSource, readWitnesses } from "../log/log-services.ts";
import { type PolicySetting, witnessFile } from "../log/witness-files.ts";
import { type Finding, finding } from "./finding.ts";

/** The evidence key that is configured. A generated one is none here: reading it could make it. */
const evidenceOf = (settings: Settings, dataDir: string) =>
  settings.evidenceKey === null && settings.evidenceKeyFile === null
    ? evidenceSignerNone(settings.evidenceRetiredKeys)
    : evidenceSigner({ settings, dataDir });

const checkLogKey = Effect.gen(function* () {
  const signer = yield* LogSigner;
  if (signer === null) return "no key, so no log is published";
  const signed = yield* standingBesideKey(signer.key);
  const keys = yield* publicKeysOf(signer);
  const can =
    keys.length === 1
      ? `the key of ${signer.name} can sign; it has`
      : `two keys of ${signer.name} can sign; they have`;
  const ended = signed !== null && signed.standing.ended !== null ? "; the log has ended" : "";
  return `${can} ${signed === null ? "signed nothing yet" : "signed before"}${ended}`;
});

const policyText = (
  setting: PolicySetting,
  policy: LogPolicy | null,
  { settings, dataDir }: LogSource,
) => {
  const given =
    setting === "LOG_WITNESSES" ? settings.logWitnesses : settings.logWitnessesAppendOnly;
  const names = policy?.witnesses.map(({ name }) => name).join(", ");
  return policy === null
    ? []
    : `${witnessFile(setting, given, dataDir)}: ${names}; quorum ${policy.quorum ?? "none"}`;
};

/** The policies of the witnesses in words, empty without any. */
const checkWitnesses = (source: LogSource) =>
  Effect.gen(function* () {
    const { onLedger, appendOnly } = yield* readWitnesses(source);
    return [
      policyText("LOG_WITNESSES", onLedger, source),
      policyText("LOG_WITNESSES_APPEND_ONLY", appendOnly, source),
    ]
      .flat()
      .join("; append-only: ");
  });

const checkOwnWitness = ({ name, keyFile, logsFile }: NonNullable<Settings["witness"]>) =>
  Effect.gen(function* () {
    const logs = yield* readWitnessedLogs(logsFile);
    const ofLog = yield* publicKeysOf(yield* LogSigner);
    const others = [
      ...evidenceKeys(yield* EvidenceSigner),
      ...ofLog.map((publicKey) => ({ setting: "the log's key", publicKey })),
      ...logs.map(({ key }) => ({
        setting: `${key.name} in WITNESS_LOGS`,
        publicKey: key.publicKey,
      })),
    ];
    yield* Effect.provide(
      Effect.asVoid(Effect.map(WitnessKey, (key) => key)),
      witnessKeyFromFile(name, keyFile, others),
    );
    return `${name} can cosign ${logs.map(({ key }) => key.name).join(", ")}`;
  });

/** Whether the files and keys of the log, of its witnesses and of a witness here can be used. Nothing is written. */
export const checkLog = Effect.fnUntraced(function* (
  settings: Settings,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const dataDir = resolve(settings.dataDir);
  const hasKey = settings.logKey !== null || settings.logKeyFile !== null;
  const noLog = Layer.succeed(LogSigner, null);
  const evidence = evidenceOf(settings, dataDir);
  const signers = hasKey
    ? logSigner({ settings, dataDir }).pipe(Layer.provideMerge(evidence))
    : Layer.merge(noLog, evidence);
  const findings: Array<Finding> = [];
  if (hasKey) findings.push(yield* finding("log", Effect.provide(checkLogKey, signers)));
  const witnesses = yield* finding(
    "log",
    Effect.provide(checkWitnesses({ settings, dataDir }), signers),
  );
  if (witnesses.text !== "") findings.push(witnesses);
  const { witness } = settings;
  if (witness !== null)
    findings.push(yield* finding("witness", Effect.provide(checkOwnWitness(witness), signers)));
  return findings;
});
