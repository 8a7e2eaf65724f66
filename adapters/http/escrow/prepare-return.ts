import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { prepareCancel } from "../../../core/use-cases/escrow/prepare/prepare-cancel.ts";
import { prepareRefund } from "../../../core/use-cases/escrow/prepare/prepare-refund.ts";
import type { PrepareReturnRequest as Request } from "../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { onSampleLedger, samplePendingEscrow } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { PathAddress, record } from "../openapi/values.ts";
import { fieldPointers } from "../request/field-pointers.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  callRecord,
  OrNull,
  payerMember,
  PreparedEscrowCall,
  transactionQuery,
} from "./prepared-call-contract.ts";
import { PREPARE_PROBLEMS } from "./prepare-problems.ts";

const PrepareReturnRequest = record(
  "PrepareReturnRequest",
  "How an escrow's money goes back to its agent; `{}` is enough.",
  {
    agent_fallback_account: OrNull(
      "A token account of the agent's wallet, paid when the associated one cannot receive tokens.",
    ),
    ...payerMember,
  },
);

type Body = Static<typeof PrepareReturnRequest>;

const requestOf = (body: Body, wantsTransaction: boolean | undefined): Request => ({
  agentFallbackAccount: body.agent_fallback_account ?? undefined,
  payer: body.payer ?? undefined,
  wantsTransaction,
});

const pointers = fieldPointers<keyof Request | "pda">({
  pda: "/pda",
  agentFallbackAccount: "/agent_fallback_account",
  payer: "/payer",
  wantsTransaction: "?transaction",
});

const shared = {
  method: "POST",
  tag: "Escrows",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  query: Type.Object(transactionQuery, { additionalProperties: false }),
  problems: PREPARE_PROBLEMS,
} as const;

const answers = (prepare: typeof prepareRefund, bodyExample: () => Body, ledgerTime: bigint) => {
  const example = () => {
    const escrow = samplePendingEscrow();
    const request = requestOf(bodyExample(), true);
    const call = onSampleLedger({ escrow, ledgerTime }, prepare(escrow.address, request));
    return {
      data: { escrow_pda: escrow.address as string, ...callRecord(call) },
      context: READ_CONTEXT_EXAMPLE,
    };
  };
  return {
    200: {
      description: "The instructions, and the transaction when it was asked for.",
      content: { "application/json": { schema: ledgerRead(PreparedEscrowCall), example } },
    },
  } as const;
};

type Asked = {
  readonly params: { readonly pda: string };
  readonly query: { readonly transaction?: boolean };
  readonly body: Body;
};

const answering = (prepare: typeof prepareRefund) =>
  Effect.fnUntraced(function* ({ params, query, body }: Asked) {
    const call = yield* prepare(params.pda, requestOf(body, query.transaction)).pipe(
      Effect.catchTags({
        ValidationFailed: pointers.validationFailed,
        InvalidAddress: pointers.invalidAddress,
      }),
    );
    const data = { escrow_pda: params.pda, ...callRecord(call) };
    return { json: { data, context: readContext(call.at) } };
  });

const refundBodyExample = (): Body => ({ payer: sampleParties().agent });

/** `POST /v1/escrows/{pda}/refund/prepare` */
export const prepareRefundEndpoint = endpoint({
  ...shared,
  path: "/v1/escrows/{pda}/refund/prepare",
  operationId: "prepareRefund",
  summary: "Prepare the refund of an expired escrow",
  description:
    "The instructions that pay the agent back, from the second of expiry on. Anyone may send them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReturnRequest, example: refundBodyExample },
  answers: answers(prepareRefund, refundBodyExample, SAMPLE.createdAt + BigInt(SAMPLE.ttlSeconds)),
}).handle(answering(prepareRefund));

/** `POST /v1/escrows/{pda}/cancel/prepare` */
export const prepareCancelEndpoint = endpoint({
  ...shared,
  path: "/v1/escrows/{pda}/cancel/prepare",
  operationId: "prepareCancel",
  summary: "Prepare the cancellation of an escrow by its merchant",
  description:
    "The instructions that pay the agent back before the escrow expires. The merchant's wallet must sign them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReturnRequest, example: () => ({}) },
  answers: answers(prepareCancel, () => ({}), SAMPLE.createdAt + 30n),
}).handle(answering(prepareCancel));
