import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { requestSync } from "../../../core/use-cases/index/request-sync.ts";
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
