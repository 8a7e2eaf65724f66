import { resolve } from "node:path";
import { Effect, Layer } from "effect";
import { projectCommand } from "../../core/domain/project-command.ts";
import { witnessClientHttp } from "../../adapters/witness-http/witness-client.ts";
import { witnessKeyFromFile } from "../../adapters/signer/log-signer.ts";
import { evidenceSignerNone } from "../../adapters/signer/evidence-signer.ts";
import type { LogPolicy, PolicyWitness } from "../../core/log/policy/log-policy.ts";
import { OWN_WITNESS_NAMES } from "../../core/log/policy/witness-group.ts";
import { standingBesideKey } from "../../core/use-cases/log/signing/open-log.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { WitnessClient } from "../../ports/log/log-source.ts";
import { LogSigner, publicKeysOf } from "../../ports/log/log-signer.ts";
import { WitnessKey } from "../../ports/log/witness-state.ts";
import type { Settings } from "../config/settings.ts";
import { readWitnessedLogs } from "../config/witnessed-logs.ts";
import { evidenceKeys, evidenceSigner } from "../key-layers.ts";
import { logSigner, type LogSource, readWitnesses } from "../log/log-services.ts";
import { type PolicySetting, witnessFile } from "../log/witness-files.ts";
import { type Finding, finding, Problem } from "./finding.ts";

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

/** A request that no witness takes for a checkpoint, so that one that is there answers 400 (C2SP tlog-witness). */
const NO_CHECKPOINT = "";
const NOT_FOUND = 404;
const SERVER_ERROR = 500;

/** Why a witness takes no checkpoints, null where it answers as one does. */
const faultOfWitness = ({ url }: PolicyWitness) =>
  WitnessClient.use((client) => client.addCheckpoint(url ?? "", NO_CHECKPOINT)).pipe(
    Effect.map(({ status }) =>
      status >= SERVER_ERROR || status === NOT_FOUND ? `it answers ${status}` : null,
    ),
    Effect.catch(({ reason }) => Effect.succeed(reason)),
  );

/** Asks each witness of the policies whether it is there; those that run beside a service are away without it. */
const checkAnswers = Effect.fnUntraced(function* (source: LogSource) {
  const { onLedger, appendOnly } = yield* readWitnesses(source);
  const { ledger, logWitnesses } = source.settings;
  const beside = ledger.kind === "embedded" && logWitnesses === null ? OWN_WITNESS_NAMES : [];
  const witnesses = [
    ...(onLedger?.witnesses ?? []).map((witness) => ({ witness, option: "" })),
    ...(appendOnly?.witnesses ?? []).map((witness) => ({ witness, option: " --append-only" })),
  ].filter(({ witness }) => !beside.includes(witness.name));
  return yield* Effect.forEach(
    witnesses,
    ({ witness, option }) =>
      finding(
        "log",
        Effect.flatMap(faultOfWitness(witness), (fault) =>
          fault === null
            ? Effect.succeed(`the witness ${witness.name} answers at ${witness.url}`)
            : new Problem({
                message: `the witness ${witness.name} does not answer at ${witness.url} (${fault}); start it or ask its operator; if it is gone for good: ${projectCommand(`cli log remove-witness ${witness.name}${option}`)}`,
                isUnavailable: true,
              }),
        ),
      ),
    { concurrency: "unbounded" },
  ).pipe(Effect.provide(witnessClientHttp));
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
  const answers = checkAnswers({ settings, dataDir }).pipe(Effect.provide(signers));
  // A policy that cannot be read is a finding already.
  findings.push(...(yield* Effect.orElseSucceed(answers, () => [])));
  const { witness } = settings;
  if (witness !== null)
    findings.push(yield* finding("witness", Effect.provide(checkOwnWitness(witness), signers)));
  // A key that cannot be used is found once for each check that needs it.
  const texts = findings.map(({ text }) => text);
  return findings.filter(({ text }, at) => texts.indexOf(text) === at);
});
