import type { OperatorFacts } from "./operator-facts.ts";

/** Slots from which the index is stale: five minutes at 400 ms a slot. */
const STALE_SLOTS = 750n;
/** A relayed transaction expires some ninety seconds after it was signed; it is final or gone well within this. */
const RELAY_AGE_MS = 300_000;
/** The share of the relay's queue from which clients are soon turned away. */
const FULL_SHARE = 0.8;
/** Witnesses are asked every ten minutes at rest, so an hour is six that failed. */
const COSIGNATURE_AGE_MS = 3_600_000;
/** The share of the disk below which it counts as almost full. */
const FREE_SHARE = 0.1;

/** Something that the operator must act on. */
type OperatorWarning = {
  /** Its stable name. */
  readonly alert: string;
  readonly says: string;
  readonly cure: string;
  /** A command that shows more, or mends it. */
  readonly command: string;
};

const ofIndex = ({ index, activity }: OperatorFacts): ReadonlyArray<OperatorWarning> => {
  const warnings: Array<OperatorWarning> = [];
  if (activity.contradiction !== null)
    warnings.push({
      alert: "IndexHistoryContradicted",
      says: "The ledger shows another history than the index.",
      cure: "Compare the roots at a node that you trust; the index stays as it is until you decide.",
      command: "curl -s http://127.0.0.1:$PORT/v1/status | jq .data.indexer.contradiction",
    });
  if (activity.lastError !== null)
    warnings.push({
      alert: "IndexSyncFailing",
      says: `The last sync failed: ${activity.lastError}.`,
      cure: "Look at the nodes below and at the store's disk; a sync is tried again by itself.",
      command: "bun run cli doctor",
    });
  if (activity.snapshotFailures > 0)
    warnings.push({
      alert: "IndexSnapshotFailing",
      says: `${activity.snapshotFailures} snapshots have failed since the last complete one.`,
      cure: "Configure a node that answers scans of program accounts.",
      command: "bun run cli doctor",
    });
  if (index.lagSlots !== null && index.lagSlots > STALE_SLOTS)
    warnings.push({
      alert: "IndexBehind",
      says: `The index is ${index.lagSlots} slots behind the ledger.`,
      cure: "Ask for a sync and read its problem; if it is slow, configure a nearer node.",
      command: "curl -s -X POST http://127.0.0.1:$PORT/v1/indexer/sync",
    });
  return warnings;
};

const ofNodes = ({ nodes }: OperatorFacts): ReadonlyArray<OperatorWarning> =>
  nodes
    .filter(({ isPaused }) => isPaused)
    .map(({ address }) => ({
      alert: "LedgerNodePaused",
      says: `The node ${address} failed and is left alone for a while.`,
      cure: "See whether it answers; if it stays away, put another one into RPC_URLS.",
      command: `curl -s ${address} -H 'content-type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"getHealth"}'`,
    }));

const ofRelay = ({ relay }: OperatorFacts): ReadonlyArray<OperatorWarning> => {
  const warnings: Array<OperatorWarning> = [];
  if ((relay.oldestAgeMs ?? 0) > RELAY_AGE_MS)
    warnings.push({
      alert: "RelayStuck",
      says: "A relayed transaction has had no final outcome for more than five minutes.",
      cure: "The nodes do not show finality or history: configure one that does. Nobody needs to pay again.",
      command: "curl -s http://127.0.0.1:$PORT/v1/status | jq .data.network",
    });
  if (relay.pending > FULL_SHARE * relay.capacity)
    warnings.push({
      alert: "RelayQueueFilling",
      says: `${relay.pending} of ${relay.capacity} places of the relay's queue are taken.`,
      cure: "Look at the nodes first; then lower the budget of relays for each client.",
      command: "curl -s http://127.0.0.1:$METRICS_PORT/metrics | grep relay_",
    });
  return warnings;
};

const ofLog = ({ log, nowMs }: OperatorFacts): ReadonlyArray<OperatorWarning> => {
  if (log === null) return [];
  const warnings: Array<OperatorWarning> = [];
  // What was signed a moment ago is published once the witnesses have answered; until then nothing hinders it.
  if (log.hindrance !== null && log.size !== null && log.size > (log.publishedSize ?? 0))
    warnings.push({
      alert: "LogNotPublished",
      says: `The log has signed ${log.size} leaves and published ${log.publishedSize ?? 0}. What hinders it: ${log.hindrance}.`,
      cure: "Reach the witnesses that are missing, or have the quorum changed.",
      command: "curl -s http://127.0.0.1:$PORT/v1/status | jq .data.log",
    });
  const late = log.cosignatures.filter(
    ({ time }) => nowMs - Number(time) * 1000 > COSIGNATURE_AGE_MS,
  );
  for (const name of new Set([...log.missingWitnesses, ...late.map((each) => each.name)]))
    warnings.push({
      alert: "WitnessCosignatureOld",
      says: `The witness ${name} has not cosigned for some time.`,
      cure: "Ask its operator whether it runs, and see what it answered last.",
      command: "curl -s http://127.0.0.1:$PORT/v1/status | jq .data.log.witnesses",
    });
  return warnings;
};

const ofHost = ({ host }: OperatorFacts): ReadonlyArray<OperatorWarning> => {
  const disk = host?.disk ?? null;
  if (disk === null || disk.freeBytes >= FREE_SHARE * disk.sizeBytes) return [];
  return [
    {
      alert: "DiskAlmostFull",
      says: "The disk of the data directory is almost full. On a full one nothing is relayed or indexed.",
      cure: "Move the data directory to a larger disk, or free what others use.",
      command: 'du -sh "$DATA_DIR"/* | sort -h',
    },
  ];
};

/** What the operator must act on, the gravest first; empty where nothing is. */
export const operatorWarnings = (facts: OperatorFacts): ReadonlyArray<OperatorWarning> =>
  [ofIndex, ofHost, ofNodes, ofRelay, ofLog].flatMap((of) => of(facts));
