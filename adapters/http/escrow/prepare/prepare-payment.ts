import { type Static, Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import {
  prepareCapture,
  prepareRelease,
} from "../../../../core/use-cases/escrow/prepare/prepare-payment.ts";
import { samplePendingEscrow } from "../../openapi/sample-ledger.ts";
import { sampleSession } from "../../openapi/sample-session.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../../openapi/sample-values.ts";
import { AddressOrNull, judged, record } from "../../openapi/values.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import {
  bareMember,
  payerMember,
  PREPARE_OPERATION,
  preparedCallAnswer,
  preparedCallAnswers,
} from "./prepared-call-contract.ts";

const COUNT = judged({ minimum: 1, maximum: 4_294_967_295 });

const Voucher = record(
  "VoucherRequest",
  "What the session's key signed: how much may be taken, and for which orders.",
  {
    orders: Type.String({ description: "The root over the orders, 32 bytes as 64 hex digits." }),
    total_stroops: Type.String({ description: "Base units that may be taken in all." }),
    count: Type.Integer({ description: "How many orders, 1 to 4294967295.", ...COUNT }),
    closing: Type.Boolean({ description: "Whether it closes the session: a release needs that." }),
    signature: Type.String({ description: "64 bytes as base64." }),
  },
);

const claimMembers = {
  proof_hash: Type.String({ description: "32 bytes as 64 hex digits." }),
  timestamp: Type.String({
    description: "The time inside the signed message, as YYYY-MM-DDThh:mm:ssZ.",
  }),
  amount_stroops: Type.Optional(
    Type.String({
      description:
        "The attested total: base units for the merchant in all, what was captured included. Leave it out for the escrow's whole amount.",
    }),
  ),
  deliveries: Type.Optional(
    Type.Integer({
      description:
        "How many deliveries are attested in all, 1 to 4294967295. 1 when left out; a single payment has no other.",
      ...COUNT,
    }),
  ),
  attestation_signature: Type.String({ description: "64 bytes as base64." }),
  voucher: Type.Optional(Voucher),
  merchant_fallback_account: AddressOrNull(
    "A token account of the merchant's wallet, paid when the associated one cannot receive tokens.",
  ),
  ...payerMember,
} as const;

const PrepareReleaseRequest = record(
  "PrepareReleaseRequest",
  "A final claim that the escrow's attestor has signed; for a session, with the closing voucher of exactly its total and count.",
  { ...claimMembers, ...bareMember },
);

const releaseExample = (): Static<typeof PrepareReleaseRequest> => {
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
    "Verifies the signatures as strictly as the ledger does, then gives the instructions: make the merchant's missing account, check the Ed25519 signatures, release, and behind it `claim_refund` and `return_rent` where they would succeed and fit. Anyone may send them. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareReleaseRequest, example: releaseExample },
  answers: preparedCallAnswers(samplePendingEscrow, SAMPLE.createdAt + 30n, (pda) =>
    prepareRelease(pda, fieldsOf({ ...releaseExample(), transaction: true })),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareRelease(pda, fieldsOf({ ...body, ...query }))),
);

const PrepareCaptureRequest = record(
  "PrepareCaptureRequest",
  "A claim on a session that its attestor has signed and that is not final, with a voucher that covers it.",
  claimMembers,
);

const captureExample = (): Static<typeof PrepareCaptureRequest> => {
  const { claim, voucher, attestationSignature, voucherSignature } = sampleSession();
  return {
    proof_hash: claim.proofHash,
    timestamp: formatUnixTime(claim.timestamp),
    amount_stroops: claim.total.toString(),
    deliveries: claim.deliveries,
    attestation_signature: encodeBase64(attestationSignature),
    voucher: {
      orders: voucher.orders,
      total_stroops: voucher.total.toString(),
      count: voucher.count,
      closing: voucher.isClosing,
      signature: encodeBase64(voucherSignature),
    },
    payer: sampleParties().merchant,
  };
};

/** `POST /v1/escrows/{pda}/capture/prepare` */
export const prepareCaptureEndpoint = endpoint({
  ...PREPARE_OPERATION,
  path: "/v1/escrows/{pda}/capture/prepare",
  operationId: "prepareCapture",
  summary: "Prepare a payment to the merchant while a session goes on",
  description:
    "Pays what is attested and vouched for and was not captured before; the session goes on. Verifies both signatures as strictly as the ledger does. Anyone may send it. Signs, sends and keeps nothing; the answer holds for the slot in `context`.",
  body: { schema: PrepareCaptureRequest, example: captureExample },
  answers: preparedCallAnswers(
    () => sampleSession().escrow,
    SAMPLE.createdAt + 30n,
    (pda) => prepareCapture(pda, fieldsOf({ ...captureExample(), transaction: true })),
  ),
}).handle(({ params: { pda }, query, body }) =>
  preparedCallAnswer(pda, prepareCapture(pda, fieldsOf({ ...body, ...query }))),
);
