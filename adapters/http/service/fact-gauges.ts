import { SYNC_ERRORS } from "../../../core/use-cases/index/sync/sync-failure.ts";
import { LOG_HINDRANCES } from "../../../core/use-cases/log/log-standing.ts";
import { NOT_READY_PARTS } from "../../../core/use-cases/service/read-readiness.ts";
import { witnessNames } from "../../../core/use-cases/service/log-status.ts";
import type { OperatorFacts } from "../../../core/use-cases/service/operator-facts.ts";
import { syncErrorCode } from "./status/index-status-contract.ts";

/** A value at a scrape; null where it is not known, which Prometheus is told as NaN. */
type Scraped = number | bigint | boolean | null | undefined;

/** One time series of a gauge. */
type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: Scraped };

/** A gauge that is set from the operator's facts at each scrape. */
export type FactGauge = {
  readonly type: "gauge";
  readonly unit: string;
  readonly labels: ReadonlyArray<string>;
  readonly about: string;
  readonly of: (facts: OperatorFacts) => ReadonlyArray<Sample>;
};

const gauges = <const Label extends string>(
  unit: string,
  labels: ReadonlyArray<Label>,
  about: string,
  of: (
    facts: OperatorFacts,
  ) => ReadonlyArray<readonly [labels: Record<NoInfer<Label>, string>, value: Scraped]>,
): FactGauge => ({
  type: "gauge",
  unit,
  labels,
  about,
  of: (facts) => of(facts).map(([given, value]) => ({ labels: given, value })),
});

const gauge = (unit: string, about: string, of: (facts: OperatorFacts) => Scraped): FactGauge =>
  gauges(unit, [], about, (facts) => [[{}, of(facts)]]);

const ofNodes = (
  unit: string,
  about: string,
  of: (node: OperatorFacts["nodes"][number]) => Scraped,
): FactGauge =>
  gauges(unit, ["node", "place"], about, ({ nodes }) =>
    nodes.map((node) => [{ node: node.address, place: String(node.place) }, of(node)]),
  );

const ofWebhooks = (
  unit: string,
  about: string,
  of: (webhook: OperatorFacts["webhooks"][number]) => Scraped,
): FactGauge =>
  gauges(unit, ["webhook"], about, ({ webhooks }) =>
    webhooks.map((webhook) => [{ webhook: webhook.id }, of(webhook)]),
  );

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000);

/** The gauges that say how the service stands, by name. */
export const FACT_GAUGES = {
  service_not_ready: gauges(
    "0 or 1",
    ["part"],
    "1 for each part for which `/ready` answers 503, 0 for the others.",
    ({ notReady }) => NOT_READY_PARTS.map((part) => [{ part }, notReady.includes(part)]),
  ),
  index_synced_slot: gauge(
    "slot",
    "Slot at which the last completed sync read the ledger's count of events; NaN before the first sync or without the store.",
    ({ index }) => index.mark?.slot,
  ),
  index_synced_timestamp_seconds: gauge(
    "unix seconds",
    "When the last completed sync ended; NaN before the first sync or without the store.",
    ({ index }) => index.mark && index.mark.atMs / 1000,
  ),
  index_lag_slots: gauge(
    "slots",
    "Finalized slots that the index is behind; NaN while the ledger does not answer.",
    ({ index }) => index.lagSlots,
  ),
  index_events: gauge(
    "events",
    "Events that the index holds: two for an escrow that was settled. NaN before the first sync or without the store.",
    ({ index }) => index.mark?.count,
  ),
  index_snapshot_timestamp_seconds: gauge(
    "unix seconds",
    "When the last snapshot was complete: the build of the index, or a scan of all merchants; NaN before or without the store.",
    ({ index }) => seconds(index.snapshotAtMs),
  ),
  index_snapshot_failures: gauge(
    "snapshots",
    "Snapshots of this process that failed since its last completed one.",
    ({ activity }) => activity.snapshotFailures,
  ),
  index_sync_failed: gauges(
    "0 or 1",
    ["code"],
    "1 for the problem code of the last sync of this process when it failed, 0 for the others.",
    ({ activity }) =>
      SYNC_ERRORS.map((error) => [
        { code: String(syncErrorCode(error)) },
        activity.lastError === error,
      ]),
  ),
  index_history_contradicted: gauge(
    "0 or 1",
    "1 while the ledger shows another history than the index, or an earlier state of it, and nobody has confirmed that.",
    ({ activity }) => activity.contradiction !== null,
  ),
  ledger_signals_live: gauge(
    "0 or 1",
    "1 while a node has taken the subscription to the ledger's signals; NaN where this process listens to none.",
    ({ activity }) => activity.signals?.isLive,
  ),
  ledger_signals_silent: gauge(
    "0 or 1",
    "1 while a node has taken the subscription to the ledger's signals and tells of nothing, not even of slots, or a sync has found events that it did not tell of; NaN where this process listens to none.",
    ({ activity }) => activity.signals?.isSilent,
  ),
  ledger_signals_failures: gauge(
    "connections",
    "Connections for the ledger's signals that were lost in a row, or that no node took; NaN where this process listens to none.",
    ({ activity }) => activity.signals?.failures,
  ),
  ledger_node_latency_seconds: ofNodes(
    "seconds",
    "Moving average of what an answered request took, in this thread; NaN before the first.",
    ({ latencyMs }) => seconds(latencyMs),
  ),
  ledger_node_answered: ofNodes(
    "requests",
    "Requests that a node has answered with a result, in this thread.",
    ({ answered }) => answered,
  ),
  ledger_node_faults: gauges(
    "requests",
    ["node", "place", "kind"],
    "Requests without a usable answer, by kind of fault, in this thread.",
    ({ nodes }) =>
      nodes.flatMap(({ address, place, faults }) =>
        [...faults].map(
          ([kind, count]) => [{ node: address, place: String(place), kind }, count] as const,
        ),
      ),
  ),
  ledger_node_refusals: ofNodes(
    "requests",
    "Requests that a node answered with an error of its own, in this thread.",
    ({ refusals }) => refusals,
  ),
  ledger_node_failovers: ofNodes(
    "requests",
    "Requests that another node was asked because this one, which came first, could not be, in this thread.",
    ({ failovers }) => failovers,
  ),
  ledger_node_paused: ofNodes(
    "0 or 1",
    "1 while a node is left alone after a fault.",
    ({ isPaused }) => isPaused,
  ),
  peer_packets_used: gauges(
    "packets",
    ["peer"],
    "Packets of archived escrows that a peer showed and the ledger's digest confirmed, in this process.",
    ({ activity }) => [...activity.peers].map(([peer, { used }]) => [{ peer }, used]),
  ),
  peer_answers_ignored: gauges(
    "answers",
    ["peer"],
    "Answers of a peer about archived escrows that came too late, were no packet, or were not what the ledger keeps, in this process.",
    ({ activity }) => [...activity.peers].map(([peer, { ignored }]) => [{ peer }, ignored]),
  ),
  relay_pending: gauge(
    "transactions",
    "Relayed transactions without a final outcome.",
    ({ relay }) => relay.pending,
  ),
  relay_capacity: gauge(
    "transactions",
    "The most of them that this process takes on.",
    ({ relay }) => relay.capacity,
  ),
  relay_oldest_age_seconds: gauge(
    "seconds",
    "How long the oldest relayed transaction has waited for its outcome; 0 without one.",
    ({ relay }) => (relay.oldestAgeMs ?? 0) / 1000,
  ),
  log_size: gauge(
    "leaves",
    "Leaves of the settlement log that were signed last; NaN without a log or the store.",
    ({ log }) => log?.size,
  ),
  log_published_size: gauge(
    "leaves",
    "Leaves of the published checkpoint; NaN before the first.",
    ({ log }) => log?.publishedSize,
  ),
  log_publishing: gauge(
    "0 or 1",
    "1 while this process publishes the settlement log; 0 without its key, or as a standby.",
    ({ log }) => log?.state === "publishing",
  ),
  log_hindered: gauges(
    "0 or 1",
    ["hindrance"],
    "1 for what keeps the settlement log from being published at the index's size, 0 for the others.",
    ({ log }) =>
      LOG_HINDRANCES.map((hindrance) => [{ hindrance }, log && log.hindrance === hindrance]),
  ),
  log_cosigned_timestamp_seconds: gauges(
    "unix seconds",
    ["witness"],
    "What a witness of the policy states in the published checkpoint.",
    ({ log }) => (log?.cosignatures ?? []).map(({ name, time }) => [{ witness: name }, time]),
  ),
  log_witness_missing: gauges(
    "0 or 1",
    ["witness"],
    "1 for a witness of the policy that has not cosigned for ten seconds.",
    ({ log }) =>
      log === null
        ? []
        : witnessNames(log).map((witness) => [{ witness }, log.missingWitnesses.includes(witness)]),
  ),
  log_witness_nonsense: gauges(
    "answers",
    ["witness"],
    "Answers of a witness that were no answer of a witness, in this process.",
    ({ log }) => (log?.witnesses ?? []).map(({ name, nonsense }) => [{ witness: name }, nonsense]),
  ),
  log_stream_behind_leaves: gauge(
    "leaves",
    "Published leaves of the log that are not in its NATS stream; NaN without one, and where this process does not fill it.",
    ({ logStream }) => logStream?.behind,
  ),
  log_stream_failing: gauge(
    "0 or 1",
    "1 while the NATS stream of the log cannot be filled; NaN without one.",
    ({ logStream }) => logStream && logStream.problem !== null,
  ),
  webhook_delivered: ofWebhooks(
    "requests",
    "Requests that the receiver of a webhook took, in this process.",
    ({ delivered }) => delivered,
  ),
  webhook_failed: ofWebhooks(
    "requests",
    "Requests to the receiver of a webhook that failed, in this process.",
    ({ failed }) => failed,
  ),
  webhook_behind_events: ofWebhooks(
    "events",
    "Events of the index that a webhook has not been brought to; NaN where this process does not deliver it.",
    ({ behind }) => behind,
  ),
  webhook_failing_seconds: ofWebhooks(
    "seconds",
    "How long the receiver of a webhook has failed, 0 while it does not; NaN where this process does not deliver it.",
    ({ failingMs }) => seconds(failingMs),
  ),
  webhook_disabled: ofWebhooks(
    "0 or 1",
    "1 for a webhook that is not delivered any more: its receiver answered 410 or failed for five days.",
    ({ isEnded }) => isEnded,
  ),
  store_bytes: gauges(
    "bytes",
    ["store", "kind"],
    "What a store takes on the disk; NaN where it is elsewhere, or not made yet.",
    ({ host }) =>
      (host?.stores ?? []).map(({ name, kind, bytes }) => [{ store: name, kind }, bytes]),
  ),
  process_resident_bytes: gauge(
    "bytes",
    "The process's resident memory.",
    ({ host }) => host?.residentBytes,
  ),
  disk_free_bytes: gauge(
    "bytes",
    "Free bytes of the file system of the data directory, for a process without privileges.",
    ({ host }) => host?.disk?.freeBytes,
  ),
  disk_size_bytes: gauge(
    "bytes",
    "All bytes of that file system.",
    ({ host }) => host?.disk?.sizeBytes,
  ),
  build_info: gauges(
    "1",
    ["version", "revision"],
    "The version and the revision that run.",
    ({ build: { version, revision } }) => [[{ version, revision: revision ?? "unknown" }, 1]],
  ),
} satisfies Readonly<Record<string, FactGauge>>;
