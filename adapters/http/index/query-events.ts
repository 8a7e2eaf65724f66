import { Effect } from "effect";
import { queryEvents } from "../../../core/use-cases/index/query-events.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { Instance } from "../../../ports/instance.ts";
import { LogIdentity } from "../../../ports/log/log-identity.ts";
import { isLedgerStale } from "../../../ports/ledger/ledger-record.ts";
import { NotReady } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { eventExample, eventRecord, SettlementEvent } from "./event-contract.ts";
import { indexPage, PAGE_EXAMPLE } from "../openapi/envelopes.ts";
import { eventCursor } from "../request/page-cursor.ts";
import { filterPointers } from "./filter-pointers.ts";
import { IndexParameters, indexQueryOf } from "./index-query.ts";
import { limitOf, pageAnswer } from "./page-answer.ts";

/** `GET /v1/indexer/events` */
export const queryEventsEndpoint = endpoint({
  method: "GET",
  path: "/v1/indexer/events",
  operationId: "queryEvents",
  tag: "Index",
  summary: "Query indexed settlement events",
  description: "Newest first. The filters are those of the escrow index.",
  budget: "reads",
  query: IndexParameters,
  answers: {
    200: {
      description: "A page of events.",
      content: {
        "application/json": {
          schema: indexPage(SettlementEvent),
          example: () => ({ data: [eventExample()], ...PAGE_EXAMPLE }),
        },
      },
    },
  },
  problems: ["invalid_address", "malformed_cursor", "not_ready", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    const cursor = eventCursor(yield* LogIdentity.use(({ id }) => id));
    const before = yield* cursor.decode(query.cursor);
    const limit = limitOf(query);
    const page = yield* queryEvents(indexQueryOf(query), limit, before).pipe(
      Effect.catchTag("InvalidAddress", filterPointers.invalidAddress),
    );
    if (page.mark === null) return yield* new NotReady({ missing: ["index"] });
    const { supportedMints } = yield* Instance;
    const record = (row: IndexedEvent) => eventRecord(row, supportedMints);
    return { json: pageAnswer(page, limit, cursor, record, yield* isLedgerStale) };
  }),
);
