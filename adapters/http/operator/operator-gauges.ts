import { Effect, Metric } from "effect";
import type { OperatorFacts } from "../../../core/use-cases/service/operator-facts.ts";

const gauge = (name: string, description: string) => Metric.gauge(name, { description });

const relayPending = gauge("relay_pending", "Relayed transactions without a final outcome.");
const relayCapacity = gauge("relay_capacity", "The most of them that this process takes on.");
const relayOldest = gauge(
  "relay_oldest_age_seconds",
  "Since when the oldest relayed transaction waits for its outcome, seconds; 0 without one.",
);
const nodeLatency = gauge(
  "ledger_node_latency_seconds",
  "Moving average of what an answered request took, by node, in this thread; NaN before the first.",
);
const nodeAnswered = gauge(
  "ledger_node_answered",
  "Requests that a node has answered with a result, by node, in this thread.",
);
const nodeFaults = gauge(
  "ledger_node_faults",
  "Requests without a usable answer, by node and kind of fault, in this thread.",
);
const nodeRefusals = gauge(
  "ledger_node_refusals",
  "Requests that a node answered with an error of its own, by node, in this thread.",
);
const nodeFailovers = gauge(
  "ledger_node_failovers",
  "Requests that another node was asked because this one, which came first, could not be, in this thread.",
);
const nodePaused = gauge(
  "ledger_node_paused",
  "1 while a node is left alone after a fault, 0 otherwise, by node.",
);
const storeBytes = gauge(
  "store_bytes",
  "What a store takes on the disk, by store and kind; NaN where it is elsewhere, or not made yet.",
);
const logPublishing = gauge(
  "log_publishing",
  "1 while this process publishes the settlement log, 0 otherwise: without its key, or as a standby.",
);
const cosignedAt = gauge(
  "log_cosigned_timestamp_seconds",
  "What a witness of the policy states in the published checkpoint, unix seconds, by witness.",
);
const witnessMissing = gauge(
  "log_witnesses_missing",
  "Witnesses of the policy that have not cosigned for ten seconds.",
);
const resident = gauge("process_resident_bytes", "The process's resident memory.");
const diskFree = gauge(
  "disk_free_bytes",
  "Free bytes of the file system of the data directory, for a process without privileges.",
);
const diskSize = gauge("disk_size_bytes", "All bytes of that file system.");
const build = gauge("build_info", "1, with the version and the revision that run as labels.");

const set = (
  metric: Metric.Gauge<number>,
  value: number | null,
  labels: Readonly<Record<string, string>> = {},
) => Metric.update(Metric.withAttributes(metric, labels), value ?? Number.NaN);

/** Sets what the operator must know, for a scrape. */
export const gaugeOperator = Effect.fnUntraced(function* (facts: OperatorFacts) {
  const { relay, nodes, log, host } = facts;
  yield* set(relayPending, relay.pending);
  yield* set(relayCapacity, relay.capacity);
  yield* set(relayOldest, (relay.oldestAgeMs ?? 0) / 1000);
  for (const node of nodes) {
    const labels = { node: node.address, place: String(node.place) };
    yield* set(nodeLatency, node.latencyMs === null ? null : node.latencyMs / 1000, labels);
    yield* set(nodeAnswered, node.answered, labels);
    yield* set(nodeRefusals, node.refusals, labels);
    yield* set(nodeFailovers, node.failovers, labels);
    yield* set(nodePaused, Number(node.isPaused), labels);
    for (const [kind, count] of node.faults) yield* set(nodeFaults, count, { ...labels, kind });
  }
  for (const { name, kind, bytes } of host?.stores ?? [])
    yield* set(storeBytes, bytes, { store: name, kind });
  yield* set(logPublishing, Number(log?.state === "publishing"));
  for (const { name, time } of log?.cosignatures ?? [])
    yield* set(cosignedAt, Number(time), { witness: name });
  yield* set(witnessMissing, log?.missingWitnesses.length ?? 0);
  yield* set(resident, host?.residentBytes ?? null);
  yield* set(diskFree, host?.disk?.freeBytes ?? null);
  yield* set(diskSize, host?.disk?.sizeBytes ?? null);
  const { version, revision } = facts.build;
  yield* set(build, 1, { version, revision: revision ?? "unknown" });
});
