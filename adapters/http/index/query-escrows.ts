import { Effect } from "effect";
import type { EscrowPage } from "../../../core/use-cases/index/recent-pages.ts";
import { queryEscrows } from "../../../core/use-cases/index/query-escrows.ts";
import { Instance } from "../../../ports/instance.ts";
import { LogIdentity } from "../../../ports/log/log-identity.ts";
import { isLedgerStale } from "../../../ports/ledger/ledger-record.ts";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { NotReady } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { Escrow, escrowExample, escrowRecord } from "../escrow/escrow-contract.ts";
import { indexPage, PAGE_EXAMPLE } from "../openapi/envelopes.ts";
import { escrowCursor, type PageCursor } from "../request/page-cursor.ts";
import { filterPointers } from "./filter-pointers.ts";
import { IndexParameters, indexQueryOf } from "./index-query.ts";
import { limitOf, pageAnswer } from "./page-answer.ts";

const recordOf = (
  page: EscrowPage,
  limit: number,
  cursor: PageCursor<bigint>,
  instance: Instance["Service"],
  isStale: boolean,
) => {
  const ledgerTime = page.ledgerTime ?? 0n;
  const record = (row: EscrowPage["rows"][number]) => {
    const shown = escrowRecord(row, ledgerTime, instance);
    // A settled row does not tell whether its account is archived.
    return row.state === "Pending" ? shown : { ...shown, next_actions: [] };
  };
  return pageAnswer(page, limit, cursor, record, isStale);
};

const texts = new WeakMap<EscrowPage, JsonText<ReturnType<typeof recordOf>>>();

/** Made once for each page: the use case gives the same object as long as nothing in it has changed. */
const textOf = (
  page: EscrowPage,
  limit: number,
  cursor: PageCursor<bigint>,
  instance: Instance["Service"],
  isStale: boolean,
) => {
  // Kept text is of a ledger that a node shows.
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
    const page = yield* queryEscrows(indexQueryOf(query), limit, before).pipe(
      Effect.catchTag("InvalidAddress", filterPointers.invalidAddress),
    );
    if (page.mark === null) return yield* new NotReady({ missing: ["index"] });
    return { jsonText: textOf(page, limit, cursor, yield* Instance, yield* isLedgerStale) };
  }),
);
