import { ARCHIVE_DELAY_SECONDS } from "../../../../core/protocol/accounts/escrow-rules.ts";
import {
  prepareArchive,
  prepareCancel,
  prepareClose,
  prepareRefund,
  prepareRent,
} from "../../../../core/use-cases/escrow/prepare/prepare-return.ts";
import { samplePendingEscrow } from "../../openapi/sample-ledger.ts";
import { sampleSession } from "../../openapi/sample-session.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../../openapi/sample-values.ts";
import { AddressOrNull, record } from "../../openapi/values.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import {
  bareMember,
  payerMember,
  PREPARE_OPERATION,
  PREPARE_PROBLEMS,
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

const PrepareRefundRequest = record(
  "PrepareRefundRequest",
  "How an escrow's money goes back to its agent; `{}` is enough.",
  {
    agent_fallback_account: AddressOrNull(
      "A token account of the agent's wallet, paid when the associated one cannot receive tokens.",
    ),
    ...payerMember,
    ...bareMember,
  },
);

/** What is left of an archived escrow is returned against its last bytes, which somebody must have kept. */
const OF_ARCHIVED = {
  ...PREPARE_OPERATION,
  problems: [...PREPARE_PROBLEMS, "archived_unseen"],
} as const;

/** `POST /v1/escrows/{pda}/refund/prepare` */
export const prepareRefundEndpoint = endpoint({
  ...OF_ARCHIVED,
  path: "/v1/escrows/{pda}/refund/prepare",
  operationId: "prepareRefund",
  summary: "Prepare the refund of an ended escrow",
  description:
    "The instructions that pay the agent what the vault holds and close the vault: from the second of the escrow's end on, and of an escrow that was settled with something left, archived or not. `return_rent` goes behind them where it fits. Anyone may send them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareRefundRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: preparedCallAnswers(
    samplePendingEscrow,
    SAMPLE.createdAt + BigInt(SAMPLE.ttlSeconds),
    (pda) => prepareRefund(pda, { payer: sampleParties().agent, wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareRefund(pda, fieldsOf({ ...body, ...query }))),
);

const PrepareRentRequest = record(
  "PrepareRentRequest",
  "Who has the rent returned; `{}` is enough.",
  payerMember,
);

/** `POST /v1/escrows/{pda}/rent/prepare` */
export const prepareRentEndpoint = endpoint({
  ...OF_ARCHIVED,
  path: "/v1/escrows/{pda}/rent/prepare",
  operationId: "prepareRent",
  summary: "Prepare the return of a settled escrow's rent",
  description:
    "The instruction that gives the rent payer what the escrow's account holds above its own rent: the vault's rent once the vault is closed, and what a cut of the rent frees. Anyone may send it, also of an archived escrow. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareRentRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: preparedCallAnswers(
    sampleEscrow,
    SAMPLE.createdAt + 30n,
    (pda) => prepareRent(pda, { payer: sampleParties().agent, wantsTransaction: true }),
    "vault_closed",
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareRent(pda, fieldsOf({ ...body, ...query }))),
);

const PrepareCancelRequest = record(
  "PrepareCancelRequest",
  "How an escrow is cancelled; `{}` is enough.",
  { ...payerMember, ...bareMember },
);

/** `POST /v1/escrows/{pda}/cancel/prepare` */
export const prepareCancelEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/cancel/prepare",
  operationId: "prepareCancel",
  summary: "Prepare the cancellation of an escrow by its merchant",
  description:
    "The instructions that settle the escrow with what was captured, before it ends; `claim_refund`, which pays the rest to the agent, and `return_rent` go behind it where they would succeed and fit. The merchant's wallet must sign them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareCancelRequest, example: () => ({}) },
  answers: preparedCallAnswers(samplePendingEscrow, SAMPLE.createdAt + 30n, (pda) =>
    prepareCancel(pda, { wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareCancel(pda, fieldsOf({ ...body, ...query }))),
);

const PrepareCloseRequest = record(
  "PrepareCloseRequest",
  "How a session is closed; `{}` is enough.",
  payerMember,
);

/** `POST /v1/escrows/{pda}/close/prepare` */
export const prepareCloseEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/close/prepare",
  operationId: "prepareClose",
  summary: "Prepare the closing of a session by its agent",
  description:
    "The instruction after which the session ends in 900 seconds, or when it expires if that is sooner: the merchant can capture until then, and anyone can refund the rest afterwards. The agent's wallet must sign it. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareCloseRequest, example: () => ({}) },
  answers: preparedCallAnswers(
    () => sampleSession().escrow,
    SAMPLE.createdAt + 30n,
    (pda) => prepareClose(pda, { wantsTransaction: true }),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareClose(pda, fieldsOf({ ...body, ...query }))),
);
