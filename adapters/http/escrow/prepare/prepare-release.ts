import { type Static, Type } from "@sinclair/typebox";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import { prepareRelease } from "../../../../core/use-cases/escrow/prepare/prepare-release.ts";
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

const PrepareReleaseRequest = record(
  "PrepareReleaseRequest",
  "A claim that the escrow's attestor has signed.",
  {
    proof_hash: Type.String({ description: "32 bytes as 64 hex digits." }),
    timestamp: Type.String({
      description: "The time inside the signed message, as YYYY-MM-DDThh:mm:ssZ.",
    }),
    amount_stroops: Type.Optional(
      Type.String({
        description:
          "Base units for the merchant in a partial release, below the escrow's amount. Leave it out to release all of it.",
      }),
    ),
    attestation_signature: Type.String({ description: "64 bytes as base64." }),
    merchant_fallback_account: AddressOrNull(
      "A token account of the merchant's wallet, paid when the associated one cannot receive tokens.",
    ),
    agent_fallback_account: AddressOrNull(
      "A token account of the agent's wallet, paid when the associated one cannot receive tokens.",
    ),
    ...payerMember,
  },
);

const bodyExample = (): Static<typeof PrepareReleaseRequest> => {
  const { attestation } = sampleEscrow();
  if (attestation === null) throw new Error("the sample escrow is released");
  return {
    proof_hash: attestation.proofHash,
    timestamp: formatUnixTime(attestation.attestedAt),
    attestation_signature: attestation.signature,
    payer: sampleParties().agent,
  };
};

/** `POST /v1/escrows/{pda}/release/prepare` */
export const prepareReleaseEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/release/prepare",
  operationId: "prepareRelease",
  summary: "Prepare the release of an escrow with an attestation",
  description:
    "Verifies the attestation as strictly as the ledger does, then gives the instructions: make missing payout accounts, check the Ed25519 signature, release. Anyone may send them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReleaseRequest, example: bodyExample },
  answers: preparedCallAnswers(samplePendingEscrow, SAMPLE.createdAt + 30n, (pda) =>
    prepareRelease(pda, fieldsOf({ ...bodyExample(), transaction: true })),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareRelease(pda, fieldsOf({ ...body, ...query }))),
);
