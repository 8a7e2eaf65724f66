import { type Static, Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  X402_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import type { PaymentRequest } from "../../../core/use-cases/x402/judge-payment.ts";
import { judged, record, RequestAddress } from "../openapi/values.ts";
import { sampleTransaction } from "../openapi/sample-transaction.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../openapi/sample-values.ts";

const Text = (description: string) => Type.String({ description, ...judged({ minLength: 1 }) });
const Members = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });

/** x402's `PaymentRequirements`. */
const Requirements = record("X402Requirements", "What a seller asks for one request.", {
  scheme: Text("`escrow`."),
  // Answers repeat it, so it must be a network's name and not, say, a key in the wrong place.
  network: Type.String({
    description: "CAIP-2: `solana:` and the first 32 characters of the genesis hash.",
    pattern: "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$",
    maxLength: 41,
  }),
  asset: RequestAddress("The mint."),
  amount: Text("Base units, decimal."),
  payTo: RequestAddress("The merchant's wallet."),
  maxTimeoutSeconds: Type.Integer({ description: "The escrow's time to live." }),
  extra: Type.Optional(Members("`custody`, `attestor` and `request`, and what x402 adds.")),
});

const Payload = record("X402Payment", "What a buyer sends with the request that it pays for.", {
  x402Version: Type.Integer(),
  resource: Type.Optional(Members("What x402 says of the resource; not judged.")),
  accepted: Requirements,
  payload: Members("`agent`, `nonce`, `escrow` and `create`; `phase`, `release` and `cancel`."),
  extensions: Type.Optional(Members("x402's extensions; not judged.")),
});

/** The body of `POST /x402/settle` and `POST /x402/verify`. */
export const X402Request = record("X402Request", "A payment and the requirements that it is for.", {
  x402Version: Type.Integer(),
  paymentPayload: Payload,
  paymentRequirements: Requirements,
});

/** A body as the use cases' request. */
export const paymentRequestOf = (body: Static<typeof X402Request>): PaymentRequest => ({
  version: body.paymentPayload.x402Version === body.x402Version ? body.x402Version : 0,
  accepted: body.paymentPayload.accepted,
  payload: body.paymentPayload.payload,
  requirements: body.paymentRequirements,
});

/** The documentation's example of a body. */
export const x402RequestExample = (): Static<typeof X402Request> => {
  const { agent, merchant, attestor, mint } = sampleParties();
  const requirements = {
    scheme: X402_SCHEME,
    network: x402Network(SAMPLE.genesisHash),
    asset: mint,
    amount: SAMPLE.amount.toString(),
    payTo: merchant,
    maxTimeoutSeconds: SAMPLE.ttlSeconds,
    extra: { custody: SAMPLE.deployment.custodyProgram, attestor, request: SAMPLE.intent },
  };
  const payload = {
    agent,
    nonce: SAMPLE.nonce,
    escrow: sampleEscrow().address,
    create: encodeBase64(sampleTransaction()),
  };
  return {
    x402Version: X402_VERSION,
    paymentPayload: { x402Version: X402_VERSION, accepted: requirements, payload },
    paymentRequirements: requirements,
  };
};
