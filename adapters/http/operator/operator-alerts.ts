import { projectCommand } from "../../../core/domain/project-command.ts";
import type { OperatorFacts } from "../../../core/use-cases/service/operator-facts.ts";
import type { NotReadyPart } from "../../../core/use-cases/service/read-readiness.ts";
import { HINDRANCE_SENTENCES } from "../pages/log/log-words.ts";
import { NOT_READY } from "../problems/not-ready.ts";
import { type MetricName, METRICS_PREFIX } from "../service/metrics.ts";

/** Slots from which the index is stale: five minutes at 400 ms a slot. */
const STALE_SLOTS = 750n;
/** A relayed transaction expires some ninety seconds after it was signed; it is final or gone well within this. */
const RELAY_AGE_SECONDS = 300;
/** The share of the relay's queue from which clients are soon turned away. */
const FULL_SHARE = 0.8;
/** Witnesses are asked every ten minutes at rest, so an hour is six that failed. */
const COSIGNATURE_AGE_SECONDS = 3600;
/** A receiver is tried every hour at least once it has failed for this long; after five days it is given up. */
const WEBHOOK_FAILING_SECONDS = 3600;
/** The share of the disk below which it counts as almost full. */
const FREE_SHARE = 0.1;

/** A metric's name in PromQL. */
const m = (name: MetricName): string => `${METRICS_PREFIX}_${name}`;

/** Something that the operator must act on, as the operator's page and Prometheus know it. */
export type OperatorAlert = {
  /** Its stable name. */
  readonly name: string;
  readonly severity: "critical" | "warning";
  /** What is wrong now, a sentence for each; empty where nothing is. Null where the page could not answer. */
  readonly says: ((facts: OperatorFacts) => ReadonlyArray<string>) | null;
  /** The same condition in PromQL. */
  readonly expr: string;
  /** How long Prometheus waits before it alerts, minutes. The page shows it at once. */
  readonly forMinutes: number;
  /** What is wrong, in general. */
  readonly means: string;
  readonly cure: string;
  /** A command that shows more, or mends it. */
  readonly command: string;
};

/** What keeps syncs from completing as well: of these the operator is told once. */
const SYNCED_BY: ReadonlyArray<NotReadyPart> = ["store", "ledger", "identity", "index"];

/** How long a part is not ready before Prometheus alerts on it, and what that alert tells waits as long. */
const NOT_READY_MINUTES = 2;

/** Silent once `ServiceNotReady` tells the cause. A part that comes and goes begins no alert, so it keeps none from beginning. */
const unlessNotReady = (parts: ReadonlyArray<NotReadyPart>): string =>
  `unless on (job, instance, worker) min_over_time(${m("service_not_ready")}{part=~"${parts.join("|")}"}[${NOT_READY_MINUTES}m]) == 1`;

const failedSync = ({ lastError, storeFault: store }: OperatorFacts["activity"]) => {
  const ofStore = store && `, because the store cannot be used: ${store.problem}. ${store.cure}`;
  return lastError === null ? [] : [`The last sync failed${ofStore ?? `: ${lastError}.`}`];
};

const STATUS = "curl -s http://127.0.0.1:$PORT/v1/status | jq .data";

/** Every alert, the gravest first. */
export const OPERATOR_ALERTS = [
  {
    name: "ServiceDown",
    severity: "critical",
    says: null,
    expr: 'up{job="settlement-evidence"} == 0',
    forMinutes: 1,
    means: "The service does not answer Prometheus.",
    cure: "Read the last line of its log: it says what stops it, and what to do.",
    command: "journalctl -u settlement-evidence -n 50",
  },
  {
    name: "ServiceNotReady",
    severity: "critical",
    // A store or a node that has said what is wrong knows the cure of the first part.
    says: ({ notReady, notReadyCure, activity }) =>
      notReady.map((part, at) => {
        const { says, cure } = NOT_READY[part];
        const [why] = part === "index" ? failedSync(activity) : [];
        return `${says}. ${why ?? (at === 0 ? notReadyCure : null) ?? cure}`;
      }),
    expr: `${m("service_not_ready")} == 1`,
    forMinutes: NOT_READY_MINUTES,
    means: "The service is not ready, so that a load balancer sends it no traffic.",
    cure: "Ask it which part is not ready: the answer has the cure.",
    command: "curl -s http://127.0.0.1:$PORT/ready | jq",
  },
  {
    name: "RelayNotRecorded",
    severity: "critical",
    says: ({ relay: { unrecorded }, notReady }) => {
      if (unrecorded === null || notReady.includes("store")) return [];
      const { fault } = unrecorded;
      const why = fault === null ? "." : `: ${fault.problem}. ${fault.cure}`;
      return [`Transactions cannot be recorded, so that none is relayed${why}`];
    },
    expr: `${m("relay_unrecorded")} == 1 ${unlessNotReady(["store"])}`,
    forMinutes: NOT_READY_MINUTES,
    means: "The store refuses to record transactions, so that none is relayed. No payment is lost.",
    cure: "Make room for the database, or on the disk of the data directory; relays go on by themselves.",
    command: 'df -h "$DATA_DIR"; journalctl -u settlement-evidence | grep "cannot be recorded"',
  },
  {
    name: "IndexHistoryContradicted",
    severity: "critical",
    says: ({ activity }) =>
      activity.contradiction === null ? [] : ["The ledger shows another history than the index."],
    expr: `${m("index_history_contradicted")} == 1`,
    forMinutes: 0,
    means: "The ledger shows another history than the index, or an earlier state of it.",
    cure: "Compare the roots at a node that you trust; the index stays as it is until you decide.",
    command: `${STATUS}.indexer.contradiction`,
  },
  {
    name: "IndexSyncFailing",
    severity: "critical",
    says: ({ activity, notReady }) =>
      SYNCED_BY.some((part) => notReady.includes(part)) ? [] : failedSync(activity),
    expr: `max without (code) (${m("index_sync_failed")}) == 1 ${unlessNotReady(SYNCED_BY)}`,
    forMinutes: NOT_READY_MINUTES,
    means: "Syncs fail, so that the index does not follow the ledger.",
    cure: "Look at the nodes, and at the database or the store's disk; a sync is tried again by itself.",
    command: projectCommand("doctor"),
  },
  {
    name: "IndexSnapshotFailing",
    severity: "warning",
    says: ({ activity: { snapshotFailures } }) =>
      snapshotFailures === 0
        ? []
        : [`${snapshotFailures} snapshots have failed since the last complete one.`],
    expr: `${m("index_snapshot_failures")} > 0`,
    forMinutes: 5,
    means: "The index cannot be built, or merchants cannot be scanned.",
    cure: "Configure a node that answers scans of program accounts.",
    command: projectCommand("doctor"),
  },
  {
    name: "IndexBehind",
    severity: "warning",
    says: ({ index: { lagSlots } }) =>
      lagSlots === null || lagSlots <= STALE_SLOTS
        ? []
        : [`The index is ${lagSlots} slots behind the ledger.`],
    expr: `${m("index_lag_slots")} > ${STALE_SLOTS}`,
    forMinutes: 1,
    means: "The index is five minutes or more behind the ledger.",
    cure: "Ask for a sync and read its problem; if it is slow, configure a nearer node.",
    command: "curl -s -X POST http://127.0.0.1:$PORT/v1/indexer/sync",
  },
  {
    name: "DiskAlmostFull",
    severity: "critical",
    says: ({ host }) =>
      host?.disk && host.disk.freeBytes < FREE_SHARE * host.disk.sizeBytes
        ? ["The disk of the data directory is almost full."]
        : [],
    expr: `${m("disk_free_bytes")} < ${FREE_SHARE} * ${m("disk_size_bytes")}`,
    forMinutes: 5,
    means:
      "Less than a tenth of the data directory's disk is free. On a full one nothing is relayed or indexed.",
    cure: "Move the data directory to a larger disk, or free what others use.",
    command: 'du -sh "$DATA_DIR"/* | sort -h',
  },
  {
    name: "LedgerNodePaused",
    severity: "warning",
    says: ({ nodes }) =>
      nodes
        .filter(({ isPaused }) => isPaused)
        .map(({ address }) => `The node ${address} failed and is left alone for a while.`),
    expr: `${m("ledger_node_paused")} == 1`,
    forMinutes: 2,
    means: "A node fails again and again, and is left alone between the attempts.",
    cure: "See whether it answers; if it stays away, put another one into SOLANA_RPC_URL.",
    command: projectCommand("doctor"),
  },
  {
    name: "RelayStuck",
    severity: "warning",
    says: ({ relay }) =>
      (relay.oldestAgeMs ?? 0) > RELAY_AGE_SECONDS * 1000
        ? ["A relayed transaction has had no final outcome for more than five minutes."]
        : [],
    expr: `${m("relay_oldest_age_seconds")} > ${RELAY_AGE_SECONDS}`,
    forMinutes: 0,
    means: "A relayed transaction has had no final outcome for more than five minutes.",
    cure: "The nodes do not show finality or history: configure one that does. Nobody needs to pay again.",
    command: `${STATUS}.network`,
  },
  {
    name: "RelayQueueFilling",
    severity: "warning",
    says: ({ relay: { pending, capacity } }) =>
      pending > FULL_SHARE * capacity
        ? [`${pending} of ${capacity} places of the relay's queue are taken.`]
        : [],
    expr: `${m("relay_pending")} > ${FULL_SHARE} * ${m("relay_capacity")}`,
    forMinutes: 1,
    means: "Most places of the relay's queue are taken; when all are, clients are turned away.",
    cure: "Look at the nodes first; then lower the budget of relays for each client.",
    command: "curl -s http://127.0.0.1:$METRICS_PORT/metrics | grep relay_",
  },
  {
    name: "LogNotPublished",
    severity: "warning",
    // What was signed a moment ago is published once the witnesses have answered; until then nothing hinders it.
    says: ({ log }) =>
      log === null || log.hindrance === null || (log.size ?? 0) <= (log.publishedSize ?? 0)
        ? []
        : [
            `The log has signed ${log.size} leaves and published ${log.publishedSize ?? 0}. ${HINDRANCE_SENTENCES[log.hindrance]}`,
          ],
    expr: `${m("log_hindered")} == 1 and on (job, instance, worker) ${m("log_size")} > 0 unless on (job, instance, worker) ${m("log_size")} <= ${m("log_published_size")}`,
    forMinutes: 5,
    means: "The log has signed leaves that it cannot publish.",
    cure: "Do what its hindrance asks for, as the runbook has it: nodes, store and key are this service's, witnesses have an operator of their own.",
    command: `${STATUS}.log`,
  },
  {
    name: "LogPolicyRefused",
    severity: "warning",
    says: ({ policyProblem }) =>
      policyProblem === null ? [] : [`The log's witnesses stay as they were: ${policyProblem}.`],
    expr: `${m("log_policy_refused")} == 1`,
    forMinutes: 1,
    means:
      "A policy of the log's witnesses was changed and cannot be used. The one before goes on, until the next start, which it ends.",
    cure: "Mend the file that the page names; it is taken over without a restart.",
    command: projectCommand("doctor"),
  },
  {
    name: "WitnessCosignatureOld",
    severity: "warning",
    says: ({ log, nowMs }) => {
      const late = (log?.cosignatures ?? []).filter(
        ({ time }) => nowMs - Number(time) * 1000 > COSIGNATURE_AGE_SECONDS * 1000,
      );
      const names = new Set([...(log?.missingWitnesses ?? []), ...late.map(({ name }) => name)]);
      return [...names].map((name) => `The witness ${name} has not cosigned for some time.`);
    },
    expr: `${m("log_witness_missing")} == 1 or time() - ${m("log_cosigned_timestamp_seconds")} > ${COSIGNATURE_AGE_SECONDS}`,
    forMinutes: 5,
    means: "A witness of the log's policy has not cosigned for some time.",
    cure: "Ask its operator whether it runs, and see what it answered last.",
    command: `${STATUS}.log.witnesses`,
  },
  {
    name: "LogStreamFailing",
    severity: "warning",
    says: ({ logStream }) =>
      logStream === null || logStream.problem === null
        ? []
        : [`The log's entries do not reach NATS: ${logStream.problem}.`],
    expr: `${m("log_stream_failing")} == 1`,
    forMinutes: 5,
    means: "The log's entries do not reach the NATS server. None is lost: it gets them later.",
    cure: "See whether the server answers and has room; the page and the log line say what it refused.",
    command: "curl -s http://127.0.0.1:$METRICS_PORT/metrics | grep log_stream_",
  },
  {
    name: "WebhookFailing",
    severity: "warning",
    says: ({ webhooks }) =>
      webhooks
        .filter(({ failingMs }) => (failingMs ?? 0) > WEBHOOK_FAILING_SECONDS * 1000)
        .map(
          ({ id, behind }) => `The webhook ${id} has failed for an hour; ${behind} events wait.`,
        ),
    expr: `${m("webhook_failing_seconds")} > ${WEBHOOK_FAILING_SECONDS}`,
    forMinutes: 0,
    means: "A webhook's receiver has failed for an hour. After five days it is given up.",
    cure: "Ask its receiver; it gets all that it missed, in order, once it answers 2xx.",
    command: projectCommand("cli webhook list"),
  },
  {
    name: "WebhookEnded",
    severity: "warning",
    says: ({ webhooks }) =>
      webhooks
        .filter(({ isEnded }) => isEnded)
        .map(({ id }) => `The webhook ${id} is not delivered any more.`),
    expr: `${m("webhook_disabled")} == 1`,
    forMinutes: 0,
    means:
      "A webhook is not delivered any more: its receiver answered 410 or failed for five days.",
    cure: "Ask its receiver; then have it go on where it ended, or remove it.",
    command: projectCommand("cli webhook list"),
  },
] as const satisfies ReadonlyArray<OperatorAlert>;

/** The name of an alert. */
export type AlertName = (typeof OPERATOR_ALERTS)[number]["name"];

/** What the operator must act on now, the gravest first; empty where nothing is. */
export const operatorWarnings = (facts: OperatorFacts) =>
  (OPERATOR_ALERTS as ReadonlyArray<OperatorAlert>).flatMap(({ name, says, cure, command }) =>
    (says?.(facts) ?? []).map((wrong) => ({ name, says: wrong, cure, command })),
  );
