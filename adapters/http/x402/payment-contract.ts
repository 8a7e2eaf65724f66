import { type Static, Type } from "@sinclair/typebox";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  type PaymentRequirements,
  X402_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import type { PaymentRequest } from "../../../core/use-cases/x402/judge-payment.ts";
import { judged } from "../openapi/values.ts";
import { sampleTransaction } from "../openapi/sample-transaction.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../openapi/sample-values.ts";

/** An object that x402 may extend: members that are not listed are taken too. */
const open = <P extends Parameters<typeof Type.Object>[0]>(
  title: string,
  description: string,
  properties: P,
) => Type.Object(properties, { title, description, additionalProperties: true });

const Text = (description: string) => Type.String({ description, ...judged({ minLength: 1 }) });
const Members = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });

/** x402's `PaymentRequirements`. */
const Requirements = open("X402Requirements", "What a seller asks for one request.", {
  scheme: Text("`escrow`."),
  network: Text("CAIP-2: `solana:` and the first 32 characters of the genesis hash."),
  asset: Text("The mint."),
  amount: Text("Base units, decimal."),
  payTo: Text("The merchant's wallet."),
  maxTimeoutSeconds: Type.Integer({ description: "The escrow's time to live." }),
  extra: Type.Optional(Members("`custody`, `attestor` and `request`, and what x402 adds.")),
});

const Payload = open("X402Payment", "What a buyer sends with the request that it pays for.", {
  x402Version: Type.Integer(),
  accepted: Requirements,
  payload: Members("`agent`, `nonce`, `escrow` and `create`; `phase`, `release` and `cancel`."),
});

/** The body of `POST /x402/settle` and `POST /x402/verify`. */
export const X402Request = Type.Object(
  { x402Version: Type.Integer(), paymentPayload: Payload, paymentRequirements: Requirements },
  {
    title: "X402Request",
    description: "A payment and the requirements that it is for.",
    additionalProperties: false,
  },
);

/** A body as the use cases' request. */
export const paymentRequestOf = (body: Static<typeof X402Request>): PaymentRequest => ({
  version: body.paymentPayload.x402Version === body.x402Version ? body.x402Version : 0,
  accepted: body.paymentPayload.accepted as PaymentRequirements,
  payload: body.paymentPayload.payload as { readonly [name: string]: Json },
  requirements: body.paymentRequirements as PaymentRequirements,
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
