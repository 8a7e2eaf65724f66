import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  MAX_MERCHANT_NAME_BYTES,
  MERCHANT_NAME_PATTERN,
} from "../../../core/domain/merchant/merchant.ts";
import { prepareMerchant } from "../../../core/use-cases/merchant/prepare-merchant.ts";
import {
  callRecord,
  payerMember,
  preparedCall,
  transactionQuery,
} from "../escrow/prepare/prepared-call-contract.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { onSampleRegistry } from "../openapi/sample-ledger.ts";
import { Address, EXAMPLE_WALLET, judged, record, RequestAddress } from "../openapi/values.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";
import { sampleParties } from "../openapi/sample-values.ts";

const PrepareMerchantRequest = record("PrepareMerchantRequest", "Who registers as a merchant.", {
  merchant: RequestAddress("The merchant's wallet, which must sign.", EXAMPLE_WALLET),
  attestor: RequestAddress("The Ed25519 key whose attestations release escrows."),
  name: Type.String({
    description: `1 to ${MAX_MERCHANT_NAME_BYTES} bytes of UTF-8 without control characters, at least one of which shows.`,
    ...judged({
      pattern: MERCHANT_NAME_PATTERN,
      minLength: 1,
      maxLength: MAX_MERCHANT_NAME_BYTES,
    }),
  }),
  ...payerMember,
});

const PreparedMerchantCall = preparedCall("PreparedMerchantCall", {
  merchant: Address("The merchant's wallet."),
  merchant_pda: Address("Its account in the attestor program."),
  attestor: Address("The key that will be recorded."),
});

const bodyExample = (): Static<typeof PrepareMerchantRequest> => {
  const { merchant, attestor } = sampleParties();
  return { merchant, attestor, name: "Example Quotes" };
};

const preparedRecord = (call: Effect.Success<ReturnType<typeof prepareMerchant>>) => ({
  merchant: call.merchant as string,
  merchant_pda: call.merchantAccount as string,
  attestor: call.attestor as string,
  ...callRecord(call),
});

/** `POST /v1/merchants/prepare` */
export const prepareMerchantEndpoint = endpoint({
  method: "POST",
  path: "/v1/merchants/prepare",
  operationId: "prepareMerchant",
  tag: "Merchants",
  summary: "Prepare the registration of a merchant",
  description:
    "The instruction with which a wallet registers as a merchant and names its attestor key. The wallet must sign it. Keys under which no signature can verify are refused. Signs, sends and keeps nothing.",
  budget: "reads",
  query: Type.Object(transactionQuery, { additionalProperties: false }),
  body: { schema: PrepareMerchantRequest, example: bodyExample },
  answers: {
    200: {
      description: "The instruction, and the transaction when it was asked for.",
      content: {
        "application/json": {
          schema: ledgerRead(PreparedMerchantCall),
          example: () => ({
            data: preparedRecord(
              onSampleRegistry(
                false,
                prepareMerchant(fieldsOf({ ...bodyExample(), transaction: true })),
              ),
            ),
            context: READ_CONTEXT_EXAMPLE,
          }),
        },
      },
    },
  },
  problems: ["invalid_address", "wrong_state", "ledger_unavailable", "ledger_timeout"],
}).handle(
  Effect.fnUntraced(function* ({ query, body }) {
    const call = yield* prepareMerchant(fieldsOf({ ...body, ...query }));
    return { json: { data: preparedRecord(call), context: readContext(call.at) } };
  }),
);
