import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  countSameNames,
  listedSettlementMint,
  queryMerchants,
  readMerchant,
} from "../../../core/use-cases/merchant/read-merchant.ts";
import type { RegistryEntry } from "../../../ports/index/index-reader.ts";
import { isLedgerStale } from "../../../ports/ledger/ledger-record.ts";
import { limitOf, pageAnswer } from "../index/query-escrows.ts";
import {
  indexPage,
  ledgerRead,
  PAGE_EXAMPLE,
  pageParameters,
  READ_CONTEXT_EXAMPLE,
  readContext,
} from "../openapi/envelopes.ts";
import { EXAMPLE_WALLET, MerchantStatus, PathAddress } from "../openapi/values.ts";
import { NotReady } from "../problems/http-failures.ts";
import { merchantCursor } from "../request/page-cursor.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  Merchant,
  merchantExample,
  merchantRecord,
  registryEntryExample,
  registryEntryRecord,
  RegistryEntry as RegistryEntrySchema,
} from "./merchant-contract.ts";

/** `GET /v1/merchants/{pubkey}` */
export const readMerchantEndpoint = endpoint({
  method: "GET",
  path: "/v1/merchants/{pubkey}",
  operationId: "readMerchant",
  tag: "Merchants",
  summary: "Read one merchant from the ledger",
  description: "A live read at `confirmed`, by the merchant's wallet or its merchant account.",
  budget: "reads",
  params: {
    pubkey: PathAddress("The merchant's wallet, or its merchant account.", EXAMPLE_WALLET),
  },
  answers: {
    200: {
      description: "The merchant.",
      content: {
        "application/json": {
          schema: ledgerRead(Merchant),
          example: () => ({ data: merchantExample(), context: READ_CONTEXT_EXAMPLE }),
        },
      },
    },
  },
  problems: [
    "invalid_address",
    "merchant_not_found",
    "not_a_merchant",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const { merchant, ...at } = yield* readMerchant(params.pubkey);
    const sameName = yield* countSameNames(merchant);
    return {
      json: {
        data: merchantRecord(merchant, sameName, yield* listedSettlementMint),
        context: readContext(at),
      },
    };
  }),
);

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
