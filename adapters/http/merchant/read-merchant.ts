import { Effect } from "effect";
import { countSameNames } from "../../../core/use-cases/merchant/count-same-names.ts";
import { listedSettlementMint } from "../../../core/use-cases/merchant/listed-settlement-mint.ts";
import { readMerchant } from "../../../core/use-cases/merchant/read-merchant.ts";
import { fieldPointers } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";
import { Merchant, merchantExample, merchantRecord } from "./merchant-contract.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { EXAMPLE_WALLET, PathAddress } from "../openapi/values.ts";

const pointers = fieldPointers({ pubkey: "/pubkey" });

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
    const { merchant, ...at } = yield* readMerchant(params.pubkey).pipe(
      Effect.catchTag("InvalidAddress", pointers.invalidAddress),
    );
    const sameName = yield* countSameNames(merchant);
    return {
      json: {
        data: merchantRecord(merchant, sameName, yield* listedSettlementMint),
        context: readContext(at),
      },
    };
  }),
);
