import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { listedSettlementMint } from "../../../core/use-cases/merchant/listed-settlement-mint.ts";
import { queryMerchants } from "../../../core/use-cases/merchant/query-merchants.ts";
import type { RegistryEntry } from "../../../ports/index/index-reader.ts";
import { isLedgerStale } from "../../../ports/ledger/ledger-record.ts";
import { NotReady } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { indexPage, PAGE_EXAMPLE, pageParameters } from "../openapi/envelopes.ts";
import {
  RegistryEntry as RegistryEntrySchema,
  registryEntryExample,
  registryEntryRecord,
} from "./merchant-contract.ts";
import { merchantCursor } from "../request/page-cursor.ts";
import { MerchantStatus } from "../openapi/values.ts";
import { limitOf, pageAnswer } from "../index/page-answer.ts";

/** `GET /v1/registry/merchants` */
export const queryMerchantsEndpoint = endpoint({
  method: "GET",
  path: "/v1/registry/merchants",
  operationId: "queryMerchants",
  tag: "Merchants",
  summary: "List and filter registered merchants",
  description:
    "From the index, with attestor keys and settlement counts. The counts are not a rating: anyone can open and refund an escrow that names a merchant.",
  budget: "reads",
  query: Type.Object(
    {
      status: Type.Optional(MerchantStatus),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description:
            "A text to find in name, wallet, merchant account and attestor. Case does not matter, and an accented letter may be one character or two.",
        }),
      ),
      min_reputation: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 4_294_967_295, description: "Inclusive." }),
      ),
      ...pageParameters,
    },
    { additionalProperties: false },
  ),
  answers: {
    200: {
      description: "A page of merchants, the earliest registered first.",
      content: {
        "application/json": {
          schema: indexPage(RegistryEntrySchema),
          example: () => ({ data: [registryEntryExample()], ...PAGE_EXAMPLE }),
        },
      },
    },
  },
  problems: ["malformed_cursor", "not_ready", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    const after = yield* merchantCursor.decode(query.cursor);
    const limit = limitOf(query);
    const filter = { status: query.status, text: query.q, minReputation: query.min_reputation };
    const page = yield* queryMerchants(filter, limit, after);
    if (page.mark === null) return yield* new NotReady({ missing: ["index"] });
    const settlementMint = yield* listedSettlementMint;
    const record = (entry: RegistryEntry) => registryEntryRecord(entry, settlementMint);
    return { json: pageAnswer(page, limit, merchantCursor, record, yield* isLedgerStale) };
  }),
);
