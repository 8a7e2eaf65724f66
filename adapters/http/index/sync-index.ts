import { Effect } from "effect";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { endpoint } from "../server/endpoint.ts";
import { SyncReport, syncReportExample, syncReportRecord } from "./sync-contract.ts";
import { data } from "../openapi/envelopes.ts";

/** `POST /v1/indexer/sync` */
export const syncIndexEndpoint = endpoint({
  method: "POST",
  path: "/v1/indexer/sync",
  operationId: "syncIndex",
  tag: "Index",
  summary: "Bring the index up to the ledger",
  description:
    "Takes no body. Runs after the current sync, so the caller's writes are included, and ends when the index holds every event that the ledger counts. Concurrent callers share it.",
  budget: "sync",
  maySeconds: 240,
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
  problems: ["ledger_unavailable", "ledger_timeout", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* () {
    const sync = yield* IndexSync;
    return { json: { data: syncReportRecord(yield* sync.request) } };
  }),
);
