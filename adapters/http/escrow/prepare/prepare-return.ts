import type { Static } from "@sinclair/typebox";
import { Effect } from "effect";
import { ARCHIVE_DELAY_SECONDS } from "../../../../core/protocol/accounts/escrow-rules.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareRefund,
} from "../../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { onSampleLedger, samplePendingEscrow } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../../openapi/sample-values.ts";
import { AddressOrNull, record } from "../../openapi/values.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import { PREPARE_OPERATION, preparedCallAnswer, preparedCallAnswers } from "./prepare-operation.ts";
import { payerMember } from "./prepared-call-contract.ts";

const PrepareArchiveRequest = record(
  "PrepareArchiveRequest",
  "Who archives an escrow; `{}` is enough.",
  payerMember,
);

const example = () => {
  const escrow = sampleEscrow();
  const ledgerTime = SAMPLE.createdAt + 9n + ARCHIVE_DELAY_SECONDS;
  const request = { payer: sampleParties().agent, wantsTransaction: true };
  const call = onSampleLedger({ escrow, ledgerTime }, prepareArchive(escrow.address, request));
  return { escrow: escrow.address, call };
};

/** `POST /v1/escrows/{pda}/archive/prepare` */
export const prepareArchiveEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/archive/prepare",
  operationId: "prepareArchive",
  summary: "Prepare the archiving of a settled escrow",
  description:
    "The instruction that replaces the escrow by its tombstone, seven days after settlement or later, and gives its rent payer most of the rent back. Its data holds the account's last bytes, so that the ledger's history keeps them. Anyone may send it.",
  body: { schema: PrepareArchiveRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: preparedCallAnswers(example),
}).handle(
  Effect.fnUntraced(function* ({ params, query, body }) {
    const call = yield* prepareArchive(params.pda, fieldsOf({ ...body, ...query }));
    return preparedCallAnswer(params.pda, call);
  }),
);

const PrepareReturnRequest = record(
  "PrepareReturnRequest",
  "How an escrow's money goes back to its agent; `{}` is enough.",
  {
    agent_fallback_account: AddressOrNull(
      "A token account of the agent's wallet, paid when the associated one cannot receive tokens.",
    ),
    ...payerMember,
  },
);

type Body = Static<typeof PrepareReturnRequest>;

const answers = (prepare: typeof prepareRefund, bodyExample: () => Body, ledgerTime: bigint) =>
  preparedCallAnswers(() => {
    const escrow = samplePendingEscrow();
    const request = fieldsOf({ ...bodyExample(), transaction: true });
    const call = onSampleLedger({ escrow, ledgerTime }, prepare(escrow.address, request));
    return { escrow: escrow.address, call };
  });

type Asked = {
  readonly params: { readonly pda: string };
  readonly query: { readonly transaction?: boolean };
  readonly body: Body;
};

const answering = (prepare: typeof prepareRefund) =>
  Effect.fnUntraced(function* ({ params, query, body }: Asked) {
    const call = yield* prepare(params.pda, fieldsOf({ ...body, ...query }));
    return preparedCallAnswer(params.pda, call);
  });

const refundBodyExample = (): Body => ({ payer: sampleParties().agent });

/** `POST /v1/escrows/{pda}/refund/prepare` */
export const prepareRefundEndpoint = endpoint({
  ...PREPARE_OPERATION,
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
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/cancel/prepare",
  operationId: "prepareCancel",
  summary: "Prepare the cancellation of an escrow by its merchant",
  description:
    "The instructions that pay the agent back before the escrow expires. The merchant's wallet must sign them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReturnRequest, example: () => ({}) },
  answers: answers(prepareCancel, () => ({}), SAMPLE.createdAt + 30n),
}).handle(answering(prepareCancel));
