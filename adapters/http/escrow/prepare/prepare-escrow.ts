import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { preflightEscrow } from "../../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import {
  checkEndNow,
  prepareEscrow,
} from "../../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import {
  preflightRecord,
  PreparedEscrow,
  preparedEscrowExample,
  preparedEscrowRecord,
  PrepareEscrowRequest,
  prepareRequestExample,
} from "./prepared-escrow-contract.ts";
import { transactionQuery, transactionRecord } from "./prepared-call-contract.ts";
import { data } from "../../openapi/envelopes.ts";

/** `POST /v1/escrows/prepare` */
export const prepareEscrowEndpoint = endpoint({
  method: "POST",
  path: "/v1/escrows/prepare",
  operationId: "prepareEscrow",
  tag: "Escrows",
  summary: "Derive an escrow's deterministic inputs",
  description:
    "Signs and submits nothing and creates no escrow. The same request gives the same bytes. With `preflight=true` the ledger is read as well, and `data.preflight` tells whether creating the escrow would work now and what it costs. With `transaction=true` `data.transaction` is the whole unsigned transaction, or the answer is a problem.",
  budget: "prepare",
  query: Type.Object(
    {
      preflight: Type.Optional(
        Type.Boolean({
          description:
            "Also check on the ledger whether the escrow can be made and what it costs, and put the merchant's present attestor into the instruction.",
        }),
      ),
      ...transactionQuery,
    },
    { additionalProperties: false },
  ),
  body: { schema: PrepareEscrowRequest, example: prepareRequestExample },
  answers: {
    200: {
      description: "The escrow's inputs, and the unsigned instruction that creates it.",
      content: {
        "application/json": {
          schema: data(PreparedEscrow),
          example: () => ({ data: preparedEscrowExample() }),
        },
      },
    },
  },
  problems: [
    "invalid_address",
    "task_required",
    "beta_limit_exceeded",
    "wrong_state",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ body, query, publicUrl }) {
    const prepared = yield* prepareEscrow(fieldsOf(body));
    const { preflight = false, transaction = false } = query;
    if (!preflight && !transaction) {
      yield* checkEndNow(prepared);
      return { json: { data: preparedEscrowRecord(prepared, publicUrl) } };
    }
    const checked = yield* preflightEscrow(prepared, transaction);
    const unsigned = checked.call?.transaction;
    const data = {
      ...preparedEscrowRecord(checked.prepared, publicUrl),
      ...(preflight ? { preflight: preflightRecord(checked.preflight) } : {}),
      ...(unsigned === undefined || unsigned === null
        ? {}
        : { transaction: transactionRecord(unsigned) }),
    };
    return { json: { data } };
  }),
);
