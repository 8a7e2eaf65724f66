import type { AlertName } from "../../../../adapters/http/operator/operator-alerts.ts";
import { statusExample } from "../../../../adapters/http/service/status/status-contract.ts";
import { NodeTally } from "../../../../adapters/solana-rpc/pool/node-tally.ts";
import type { OperatorFacts } from "../../../../core/use-cases/service/operator-facts.ts";

/** A node's report. */
const node = (isPaused: boolean) => ({
  ...new NodeTally("https://node.example", 0).report(0),
  isPaused,
});
const log: NonNullable<OperatorFacts["log"]> = {
  state: "publishing",
  origin: "o",
  vkey: "o+01234567+AQ",
  nextVkey: null,
  size: 9,
  root: null,
  publishedSize: 9,
  quorum: null,
  cosignedAt: null,
  cosignatures: [],
  hindrance: null,
  ended: null,
  predecessors: [],
  witnesses: [],
  missingWitnesses: [],
};
/** A webhook's report. */
const webhook = (isEnded: boolean, failingMs = 0) => ({
  id: "wh_0123456789abcdef",
  delivered: 3,
  failed: 1,
  behind: 0,
  failingMs: isEnded ? null : failingMs,
  isEnded,
});
const head = { count: 1n, root: `${statusExample().indexer.root}` };

/** From the facts of a service, those of one that is well, and for each alert of the page a state in which that alone is wrong. */
export const plantedFacts = (facts: OperatorFacts) => {
  const well: OperatorFacts = {
    ...facts,
    notReady: [],
    nodes: [],
    log: null,
    webhooks: [webhook(false)],
    logStream: { behind: 0, problem: null },
  };
  const { index, activity, relay, nowMs } = well;
  const planted: Readonly<Record<Exclude<AlertName, "ServiceDown">, Partial<OperatorFacts>>> = {
    ServiceNotReady: { notReady: ["pins"] },
    RelayNotRecorded: { relay: { ...relay, unrecorded: { fault: null } } },
    IndexHistoryContradicted: {
      activity: {
        ...activity,
        contradiction: {
          kind: "earlier_state",
          index: head,
          ledger: head,
          firstDifference: null,
        } as NonNullable<(typeof activity)["contradiction"]>,
      },
    },
    IndexSyncFailing: { activity: { ...activity, lastError: "LedgerTimeout" } },
    IndexSnapshotFailing: { activity: { ...activity, snapshotFailures: 1 } },
    IndexBehind: { index: { ...index, lagSlots: 751n } },
    LedgerNodePaused: { nodes: [node(true)] },
    RelayStuck: { relay: { ...relay, oldestAgeMs: 300_001 } },
    RelayQueueFilling: { relay: { ...relay, pending: 801 } },
    LogNotPublished: { log: { ...log, publishedSize: 8, hindrance: "quorum_missing" } },
    LogPolicyRefused: { policyProblem: "/data/log-witnesses cannot be used: line 1" },
    WitnessCosignatureOld: {
      log: {
        ...log,
        cosignatures: [{ name: "w.example", time: BigInt(Math.floor(nowMs / 1000) - 3601) }],
      },
    },
    LogStreamFailing: { logStream: { behind: 3, problem: "the NATS server: timeout" } },
    DiskAlmostFull: {
      host: { stores: [], residentBytes: 1, disk: { freeBytes: 9, sizeBytes: 100 } },
    },
    WebhookFailing: { webhooks: [webhook(false, 3_600_001)] },
    WebhookEnded: { webhooks: [webhook(true)] },
  };
  return { well, log, node, webhook, planted };
};
