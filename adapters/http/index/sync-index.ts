import { Effect } from "effect";
import { IndexSync } from "../../../core/use-cases/index/index-sync.ts";
import { endpoint } from "../server/endpoint.ts";
import { SAMPLE } from "../openapi/sample-values.ts";
import { syncReportRecord } from "../records/sync.ts";
import { data } from "../openapi/envelopes.ts";
import { SyncReport } from "../schemas/sync.ts";

const NOTHING = { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };

/** `POST /v1/indexer/sync` */
export const syncIndexEndpoint = endpoint({
  method: "POST",
  path: "/v1/indexer/sync",
  operationId: "syncIndex",
  tag: "Index",
  summary: "Bring the index up to the ledger",
  description:
    "Takes no body. One sync runs at a time: who comes while one runs waits for the next, so that what he has just done on the ledger is in it.",
  budget: "sync",
  maySeconds: 240,
  answers: {
    202: {
      description: "The sync is completed.",
      content: {
        "application/json": {
          schema: data(SyncReport),
          example: () => ({
            data: syncReportRecord({
              id: `sync-${SAMPLE.createdAt}000-1`,
              mode: "snapshot",
              slot: SAMPLE.slot,
              escrows: { ...NOTHING, seen: 4, created: 1, unchanged: 3 },
              merchants: { ...NOTHING, seen: 2, unchanged: 2 },
              eventsAdded: 1,
              rejected: [],
              vanished: [],
              startedAtMs: Number(SAMPLE.createdAt) * 1000,
              durationMs: 12,
            }),
          }),
        },
      },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout", "store_unavailable"],
  handle: Effect.fnUntraced(function* () {
    const sync = yield* IndexSync;
    return { json: { data: syncReportRecord(yield* sync.request) } };
  }),
});
