import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import type { SyncReport as DomainSyncReport } from "../../../core/domain/index/sync-report.ts";
import { requestSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { data } from "../openapi/envelopes.ts";
import { SAMPLE } from "../openapi/sample-values.ts";
import { Address, Count, oneOf, record, Slot } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";

const SyncCounts = record("SyncCounts", "What the sync did with the accounts of one kind.", {
  seen: Count("Accounts read."),
  created: Count("Rows added."),
  updated: Count("Rows changed."),
  unchanged: Count("Rows left as they were."),
  rejected: Count("Accounts that failed a check and were not stored."),
});

/** What one completed sync did. */
const SyncReport = record("SyncReport", "What one completed sync did.", {
  sync_id: Type.String(),
  status: Type.Literal("completed"),
  mode: oneOf(["snapshot", "incremental"], "How the accounts were found."),
  slot: Slot("Where the count was read."),
  count: Count("The number of the last event: the index now holds exactly the events up to it."),
  escrows: SyncCounts,
  merchants: SyncCounts,
  events: record("SyncEvents", "What the sync did with events.", { added: Count("Events added.") }),
  rejected: Type.Array(
    record("RejectedAccount", "An account that failed a check.", {
      address: Type.String(),
      reason: Type.String(),
    }),
    { description: "The first rejected accounts, at most 100.", maxItems: 100 },
  ),
  vanished: Type.Array(Address("The account."), {
    description: "Indexed merchants that the ledger shows no longer, at most 100. Their rows stay.",
    maxItems: 100,
  }),
  unseen: Count(
    "Archived escrows that no list shows, because their last bytes were not found so far. Later syncs go on searching.",
  ),
  duration_ms: Count("How long it took."),
});
/** What a sync did, as JSON. */
type SyncReportRecord = Static<typeof SyncReport>;

/** A completed sync as JSON. */
const syncReportRecord = (report: DomainSyncReport): SyncReportRecord => ({
  sync_id: report.id,
  status: "completed",
  mode: report.mode,
  slot: Number(report.slot),
  count: Number(report.count),
  escrows: report.escrows,
  merchants: report.merchants,
  events: { added: report.eventsAdded },
  rejected: report.rejected.map(({ address, fault }) => ({ address, reason: fault })),
  vanished: [...report.vanished],
  unseen: report.unseen,
  duration_ms: report.durationMs,
});

const NOTHING = { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };

/** A completed sync that found one new escrow. */
const syncReportExample = () =>
  syncReportRecord({
    id: `sync-${SAMPLE.createdAt}000-1`,
    mode: "snapshot",
    slot: SAMPLE.slot,
    count: 7n,
    escrows: { ...NOTHING, seen: 4, created: 1, unchanged: 3 },
    merchants: { ...NOTHING, seen: 2, unchanged: 2 },
    eventsAdded: 1,
    rejected: [],
    vanished: [],
    unseen: 0,
    startedAtMs: Number(SAMPLE.createdAt) * 1000,
    durationMs: 12,
  });

/** `POST /v1/indexer/sync` */
export const syncIndexEndpoint = endpoint({
  method: "POST",
  path: "/v1/indexer/sync",
  operationId: "syncIndex",
  tag: "Index",
  summary: "Bring the index up to the ledger",
  description:
    "Takes no body. Runs after the current sync, so the caller's writes are included, and ends when the index holds every event that the ledger counts. Concurrent callers share it. With `snapshot=true` it also scans every merchant that the ledger has, or fails; a snapshot of the last minute is not repeated.",
  budget: "sync",
  maySeconds: 240,
  query: Type.Object(
    {
      snapshot: Type.Optional(
        Type.Boolean({
          description:
            "Also scan all merchants. `mode` is then `snapshot`, unless one was complete within the last minute.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    202: {
      description: "The sync is completed.",
      content: {
        "application/json": {
          schema: data(SyncReport),
          example: () => ({ data: syncReportExample() }),
        },
      },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout", "slot_beyond_reach", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    return { json: { data: syncReportRecord(yield* requestSync(query.snapshot ?? false)) } };
  }),
);
