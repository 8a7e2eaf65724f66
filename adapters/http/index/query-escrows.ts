import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { MAX_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import {
  PAGE_LIMIT,
  queryEscrows,
  queryEvents,
} from "../../../core/use-cases/index/index-query.ts";
import type { EscrowPage, Page } from "../../../core/use-cases/index/recent-pages.ts";
import { Instance } from "../../../ports/instance.ts";
import { isLedgerStale } from "../../../ports/ledger/ledger-record.ts";
import { LogIdentity } from "../../../ports/log/log-signer.ts";
import { Escrow, escrowExample, indexedEscrowRecord } from "../escrow/escrow-contract.ts";
import { indexPage, PAGE_EXAMPLE, pageParameters } from "../openapi/envelopes.ts";
import { EscrowState, RequestAddress } from "../openapi/values.ts";
import { NotReady } from "../problems/http-failures.ts";
import { escrowCursor, eventCursor, type PageCursor } from "../request/page-cursor.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { eventExample, eventRecord, SettlementEvent } from "./event-contract.ts";

/** The query parameters of the index's two lists. */
export const IndexParameters = Type.Object(
  {
    merchant: Type.Optional(
      Type.String({ ...RequestAddress("Only of this merchant wallet."), maxLength: 64 }),
    ),
    agent_owner: Type.Optional(
      Type.String({ ...RequestAddress("Only of this agent wallet."), maxLength: 64 }),
    ),
    state: Type.Optional(EscrowState),
    refundable: Type.Optional(
      Type.Literal(true, {
        type: "boolean",
        description:
          "Only Pending escrows that have expired. A session that its agent closed earlier is not among them before.",
      }),
    ),
    expiring_within: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TTL_SECONDS,
        description: "Only Pending escrows that expire within this many seconds, and have not yet.",
      }),
    ),
    ...pageParameters,
  },
  { additionalProperties: false },
);

/** The query parameters of the lists of events. */
export const EventParameters = Type.Object(
  {
    ...IndexParameters.properties,
    escrow: Type.Optional(
      Type.String({ ...RequestAddress("Only of this escrow."), maxLength: 64 }),
    ),
  },
  { additionalProperties: false },
);

/** The page size a query asks for. */
export const limitOf = (query: { readonly limit?: number }): number =>
  query.limit ?? PAGE_LIMIT.default;

/**
 * A page of the index as JSON: its rows, the next cursor, the slot up to which the index is complete, and whether it is
 * stale.
 */
export const pageAnswer = <Row, Cursor, Record>(
  page: Page<Row, Cursor>,
  limit: number,
  cursor: PageCursor<Cursor>,
  record: (row: Row) => Record,
  isStale: boolean,
) => ({
  data: page.rows.map(record),
  page: { limit, next_cursor: page.next === null ? null : cursor.encode(page.next) },
  index: {
    last_synced_slot: page.mark === null ? null : Number(page.mark.slot),
    last_synced_at: page.mark === null ? null : new Date(page.mark.atMs).toISOString(),
    unseen: page.unseen,
    ...(isStale ? { stale: true as const } : {}),
  },
});

const recordOf = (
  page: EscrowPage,
  limit: number,
  cursor: PageCursor<bigint>,
  instance: Instance["Service"],
  isStale: boolean,
) => {
  const ledgerTime = page.ledgerTime ?? 0n;
  const record = (row: EscrowPage["rows"][number]) =>
    indexedEscrowRecord(row, ledgerTime, instance);
  return pageAnswer(page, limit, cursor, record, isStale);
};

const texts = new WeakMap<EscrowPage, JsonText<ReturnType<typeof recordOf>>>();

/** The page as JSON text, cached by the page object. The use case returns the same object until the page changes. */
const textOf = (
  page: EscrowPage,
  limit: number,
  cursor: PageCursor<bigint>,
  instance: Instance["Service"],
  isStale: boolean,
) => {
  // Only an answer that is not stale is cached.
  if (isStale) return jsonText(recordOf(page, limit, cursor, instance, isStale));
  const text = texts.get(page) ?? jsonText(recordOf(page, limit, cursor, instance, isStale));
  texts.set(page, text);
  return text;
};

/** `GET /v1/indexer` */
export const queryEscrowsEndpoint = endpoint({
  method: "GET",
  path: "/v1/indexer",
  operationId: "queryEscrows",
  tag: "Index",
  summary: "Query the escrow index",
  description:
    "Newest first. `refundable=true` lists expired Pending escrows, which anyone may refund.",
  budget: "reads",
  query: IndexParameters,
  answers: {
    200: {
      description: "A page of escrows.",
      content: {
        "application/json": {
          schema: indexPage(Escrow),
          example: () => ({ data: [escrowExample()], ...PAGE_EXAMPLE }),
        },
      },
    },
  },
  problems: ["invalid_address", "malformed_cursor", "not_ready", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    const cursor = escrowCursor(yield* LogIdentity.use(({ id }) => id));
    const before = yield* cursor.decode(query.cursor);
    const limit = limitOf(query);
    const page = yield* queryEscrows(fieldsOf(query), limit, before);
    if (page.mark === null) return yield* new NotReady({ missing: ["index"] });
    return { jsonText: textOf(page, limit, cursor, yield* Instance, yield* isLedgerStale) };
  }),
);

/** `GET /v1/indexer/events` */
export const queryEventsEndpoint = endpoint({
  method: "GET",
  path: "/v1/indexer/events",
  operationId: "queryEvents",
  tag: "Index",
  summary: "Query indexed settlement events",
  description: "Newest first. The filters are those of the escrow index, and `escrow`.",
  budget: "reads",
  query: EventParameters,
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
    const page = yield* queryEvents(fieldsOf(query), limit, before);
    if (page.mark === null) return yield* new NotReady({ missing: ["index"] });
    const { supportedMints } = yield* Instance;
    const record = (row: IndexedEvent) => eventRecord(row, supportedMints);
    return { json: pageAnswer(page, limit, cursor, record, yield* isLedgerStale) };
  }),
);
