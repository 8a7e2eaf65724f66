import { Clock, Effect, Ref } from "effect";
import { type EvidenceKey, EvidenceSigner } from "../../../ports/evidence-signer.ts";
import { HostReports } from "../../../ports/host-report.ts";
import { Instance } from "../../../ports/instance.ts";
import { NodeReports } from "../../../ports/ledger/node-reports.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { printVerifierKey } from "../../log/notes/verifier-key.ts";
import { IndexSync } from "../index/sync/index-sync.ts";
import { RelayDelivery } from "../relay/relay-delivery.ts";
import { LogStreaming } from "../log/log-streaming.ts";
import { WitnessPolicies } from "../log/witness-policies.ts";
import { WebhookReports } from "../webhook/webhook-delivery.ts";
import { Witness } from "../witness/witness.ts";
import { orNull, readLogStatus } from "./log-status.ts";
import { readIndexLag, readReadiness } from "./read-readiness.ts";

const keyIdOf = ({ keyId, status }: EvidenceKey) => ({ keyId, status });

/**
 * What the operator of this process must know, for the metrics and the operator's page: keys by their public ids, nodes
 * without credentials. Null means not known. Never fails, and answers within a second.
 */
export const readOperatorFacts = Effect.gen(function* () {
  const [readiness, index, log, logStream, nodes, host, activity, webhooks] = yield* Effect.all(
    [
      readReadiness(),
      readIndexLag,
      orNull(readLogStatus),
      Effect.flatMap(LogStreaming, ({ report }) => report),
      yield* NodeReports,
      yield* HostReports,
      Effect.flatMap(IndexSync, (sync) => sync.activity),
      yield* WebhookReports,
    ],
    { concurrency: "unbounded" },
  );
  const nowMs = yield* Clock.currentTimeMillis;
  const { cluster, version, revision, startedAtMs } = yield* Instance;
  const delivery = yield* RelayDelivery;
  const oldestMs = yield* delivery.oldestMs;
  const unrecorded = yield* delivery.unrecorded;
  const { current, former } = yield* EvidenceSigner;
  const { key: witnessKey } = yield* Witness;
  return {
    nowMs,
    build: { version, revision, cluster, startedAtMs },
    notReady: readiness.missing,
    /** What the operator can do about the first of them, where a store or a node has said what is wrong. */
    notReadyCure: readiness.cure,
    index,
    activity,
    nodes,
    relay: {
      pending: yield* delivery.underWay,
      capacity: RELAY_POLICY.queueCapacity,
      /** There while transactions cannot be recorded, so that none is relayed: what the store has said, if anything. */
      unrecorded: unrecorded && { fault: unrecorded.fault ?? null },
      oldestAgeMs: oldestMs === null ? null : Math.max(0, nowMs - oldestMs),
    },
    log,
    /** Why a policy of the log's witnesses cannot be used since it was changed; null when it can. */
    policyProblem: (yield* Ref.get(yield* WitnessPolicies)).problem ?? null,
    logStream,
    keys: {
      evidence: (current === null ? former : [current, ...former]).map(keyIdOf),
      log: [log?.vkey, log?.nextVkey].filter((key) => typeof key === "string"),
      witness: witnessKey && printVerifierKey(witnessKey),
    },
    host,
    webhooks,
  };
}).pipe(Effect.withSpan("readOperatorFacts"));

/** See `readOperatorFacts`. */
export type OperatorFacts = Effect.Success<typeof readOperatorFacts>;
