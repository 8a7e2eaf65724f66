import { Effect } from "effect";
import { ARCHIVE_DELAY_SECONDS } from "../../../../core/protocol/accounts/escrow-rules.ts";
import type { SendingRequest } from "../../../../core/use-cases/escrow/prepare/parse-sending.ts";
import { prepareArchive } from "../../../../core/use-cases/escrow/prepare/prepare-archive.ts";
import { onSampleLedger } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../../openapi/sample-values.ts";
import { record } from "../../openapi/values.ts";
import { bodyFields, fieldPointers } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import { PREPARE_OPERATION, preparedCallAnswer, preparedCallAnswers } from "./prepare-operation.ts";
import { payerMember } from "./prepared-call-contract.ts";

const PrepareArchiveRequest = record(
  "PrepareArchiveRequest",
  "Who archives an escrow; `{}` is enough.",
  payerMember,
);

const fields = bodyFields(PrepareArchiveRequest);
const pointers = fieldPointers<keyof SendingRequest | "pda">({
  ...fields.pointers,
  pda: "/pda",
  wantsTransaction: "?transaction",
});

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
    const request = { ...fields.of(body), wantsTransaction: query.transaction };
    const call = yield* prepareArchive(params.pda, request).pipe(
      Effect.catchTags({
        ValidationFailed: pointers.validationFailed,
        InvalidAddress: pointers.invalidAddress,
      }),
    );
    return preparedCallAnswer(params.pda, call);
  }),
);
