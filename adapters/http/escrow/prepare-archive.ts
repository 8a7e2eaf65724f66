import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { ARCHIVE_DELAY_SECONDS } from "../../../core/protocol/accounts/escrow-rules.ts";
import type { SendingRequest } from "../../../core/use-cases/escrow/prepare/parse-sending.ts";
import { prepareArchive } from "../../../core/use-cases/escrow/prepare/prepare-archive.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { onSampleLedger } from "../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../openapi/sample-values.ts";
import { PathAddress, record } from "../openapi/values.ts";
import { fieldPointers } from "../request/field-pointers.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  callRecord,
  payerMember,
  PreparedEscrowCall,
  transactionQuery,
} from "./prepared-call-contract.ts";
import { PREPARE_PROBLEMS } from "./prepare-problems.ts";

const PrepareArchiveRequest = record(
  "PrepareArchiveRequest",
  "Who archives an escrow; `{}` is enough.",
  payerMember,
);

const pointers = fieldPointers<keyof SendingRequest | "pda">({
  pda: "/pda",
  payer: "/payer",
  wantsTransaction: "?transaction",
});

const example = () => {
  const escrow = sampleEscrow();
  const ledgerTime = SAMPLE.createdAt + 9n + ARCHIVE_DELAY_SECONDS;
  const request = { payer: sampleParties().agent, wantsTransaction: true };
  const call = onSampleLedger({ escrow, ledgerTime }, prepareArchive(escrow.address, request));
  return {
    data: { escrow_pda: escrow.address, ...callRecord(call) },
    context: READ_CONTEXT_EXAMPLE,
  };
};

/** `POST /v1/escrows/{pda}/archive/prepare` */
export const prepareArchiveEndpoint = endpoint({
  method: "POST",
  path: "/v1/escrows/{pda}/archive/prepare",
  operationId: "prepareArchive",
  tag: "Escrows",
  summary: "Prepare the archiving of a settled escrow",
  description:
    "The instruction that replaces the escrow by its tombstone, seven days after settlement or later, and gives its rent payer most of the rent back. Its data holds the account's last bytes, so that the ledger's history keeps them. Anyone may send it.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  query: Type.Object(transactionQuery, { additionalProperties: false }),
  body: { schema: PrepareArchiveRequest, example: () => ({ payer: sampleParties().agent }) },
  answers: {
    200: {
      description: "The instruction, and the transaction when it was asked for.",
      content: { "application/json": { schema: ledgerRead(PreparedEscrowCall), example } },
    },
  },
  problems: PREPARE_PROBLEMS,
}).handle(
  Effect.fnUntraced(function* ({ params, query, body }) {
    const request = { payer: body.payer ?? undefined, wantsTransaction: query.transaction };
    const call = yield* prepareArchive(params.pda, request).pipe(
      Effect.catchTags({
        ValidationFailed: pointers.validationFailed,
        InvalidAddress: pointers.invalidAddress,
      }),
    );
    const data = { escrow_pda: params.pda, ...callRecord(call) };
    return { json: { data, context: readContext(call.at) } };
  }),
);
