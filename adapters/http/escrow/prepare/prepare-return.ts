import { ARCHIVE_DELAY_SECONDS } from "../../../../core/protocol/accounts/escrow-rules.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareRefund,
} from "../../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { samplePendingEscrow } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../../openapi/sample-values.ts";
import { AddressOrNull, record } from "../../openapi/values.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import {
  payerMember,
  PREPARE_OPERATION,
  preparedCallAnswer,
  preparedCallAnswers,
} from "./prepared-call-contract.ts";

const PrepareArchiveRequest = record(
  "PrepareArchiveRequest",
  "Who archives an escrow; `{}` is enough.",
  payerMember,
);

/** `POST /v1/escrows/{pda}/archive/prepare` */
export const prepareArchiveEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/archive/prepare",
  operationId: "prepareArchive",
  summary: "Prepare the archiving of a settled escrow",
  description:
    "The instruction that replaces the escrow by its tombstone, seven days after settlement or later, and gives its rent payer most of the rent back. Its data holds the account's last bytes, so that the ledger's history keeps them. Anyone may send it.",
  body: { schema: PrepareArchiveRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: preparedCallAnswers(sampleEscrow, SAMPLE.createdAt + 9n + ARCHIVE_DELAY_SECONDS, (pda) =>
    prepareArchive(pda, { payer: sampleParties().agent, wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareArchive(pda, fieldsOf({ ...body, ...query }))),
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

/** `POST /v1/escrows/{pda}/refund/prepare` */
export const prepareRefundEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/refund/prepare",
  operationId: "prepareRefund",
  summary: "Prepare the refund of an expired escrow",
  description:
    "The instructions that pay the agent back, from the second of expiry on. Anyone may send them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReturnRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: preparedCallAnswers(
    samplePendingEscrow,
    SAMPLE.createdAt + BigInt(SAMPLE.ttlSeconds),
    (pda) => prepareRefund(pda, { payer: sampleParties().agent, wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareRefund(pda, fieldsOf({ ...body, ...query }))),
);

/** `POST /v1/escrows/{pda}/cancel/prepare` */
export const prepareCancelEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/cancel/prepare",
  operationId: "prepareCancel",
  summary: "Prepare the cancellation of an escrow by its merchant",
  description:
    "The instructions that pay the agent back before the escrow expires. The merchant's wallet must sign them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReturnRequest, example: () => ({}) },
  answers: preparedCallAnswers(samplePendingEscrow, SAMPLE.createdAt + 30n, (pda) =>
    prepareCancel(pda, { wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareCancel(pda, fieldsOf({ ...body, ...query }))),
);
