import { Effect } from "effect";
import { queryEscrows } from "../../../core/use-cases/query-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { endpoint } from "../endpoint.ts";
import { escrowExample, PAGE_EXAMPLE } from "../examples/rows.ts";
import { escrowCursor } from "../page-cursor.ts";
import { escrowRecord } from "../records/escrow.ts";
import { indexPage } from "../schemas/envelopes.ts";
import { Escrow } from "../schemas/escrow.ts";
import { IndexParameters, indexQueryOf } from "../schemas/index-query.ts";
import { limitOf, pageAnswer } from "./page-answer.ts";

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
  problems: ["invalid_address", "malformed_cursor", "store_unavailable"],
  handle: Effect.fnUntraced(function* ({ query }) {
    const after = yield* escrowCursor.decode(query.cursor);
    const limit = limitOf(query);
    const page = yield* queryEscrows(indexQueryOf(query), limit, after);
    const { deployment } = yield* Instance;
    const ledgerTime = page.ledgerTime ?? 0n;
    return {
      json: pageAnswer(page, limit, escrowCursor, (row) =>
        escrowRecord(row, ledgerTime, deployment),
      ),
    };
  }),
});
