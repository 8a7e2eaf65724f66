import { type Static, Type } from "@sinclair/typebox";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { refundedAmount } from "../../../core/domain/escrow/escrow.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import {
  SESSION_SCHEME,
  X402_FLOW,
  X402_SCHEME,
  X402_TRANSFER_METHOD,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import type { PaymentRequest } from "../../../core/use-cases/x402/judge-payment.ts";
import type { SettledPayment } from "../../../core/use-cases/x402/settle-payment.ts";
import { sampleTransaction } from "../openapi/sample-transaction.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../openapi/sample-values.ts";
import {
  Address,
  EscrowState,
  Hash,
  judged,
  nullable,
  record,
  RequestAddress,
  Stroops,
  Time,
} from "../openapi/values.ts";
import { SAMPLE_SIGNATURE } from "../relay/relay-contract.ts";

const Text = (description: string) => Type.String({ description, ...judged({ minLength: 1 }) });
const Members = (description: string) =>
  Type.Object({}, { additionalProperties: true, description });

/** x402's `PaymentRequirements`. */
const Requirements = record("X402Requirements", "What a seller asks for one request.", {
  scheme: Text("`auth-capture`."),
  // Answers repeat it, so it must be a network's name and not, say, a key in the wrong place.
  network: Type.String({
    description: "CAIP-2: `solana:` and the first 32 characters of the genesis hash.",
    pattern: "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$",
    maxLength: 41,
  }),
  asset: RequestAddress("The mint."),
  amount: Text("Base units, decimal."),
  payTo: RequestAddress("The merchant's wallet."),
  maxTimeoutSeconds: Type.Integer({ description: "Seconds from the offer to its deadlines." }),
  extra: Type.Optional(Members("What docs/x402.md lists, and what x402 adds.")),
});

const Payload = record("X402Payment", "What a buyer sends with the request that it pays for.", {
  x402Version: Type.Integer(),
  resource: Type.Optional(Members("What x402 says of the resource; not judged.")),
  accepted: Requirements,
  payload: Members("`agent`, `nonce`, `escrow` and `create`; `type` and `transaction`."),
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
    extra: {
      custody: SAMPLE.deployment.custodyProgram,
      assetTransferMethod: X402_TRANSFER_METHOD,
      paymentFlow: X402_FLOW,
      captureAuthorizer: attestor,
      captureDeadline: Number(sampleEscrow().expiresAt),
      refundDeadline: Number(sampleEscrow().expiresAt),
      minFeeBps: 0,
      maxFeeBps: 0,
      request: SAMPLE.intent,
    },
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

const Kind = record("X402Kind", "A kind of payment.", {
  x402Version: Type.Integer(),
  scheme: Type.String(),
  network: Type.String({ description: "CAIP-2." }),
  extra: record("X402KindExtra", "The programs that hold the money.", {
    custody: Address("The custody program."),
    attestorProgram: Address("The attestor program."),
  }),
});

/** x402's answer to what a facilitator settles. */
export const X402Supported = record(
  "X402Supported",
  "What sellers can offer with this facilitator.",
  {
    kinds: Type.Array(Kind),
    extensions: Type.Array(Type.String(), { description: "None." }),
    signers: Type.Object(
      {},
      { additionalProperties: true, description: "None: this facilitator signs nothing." },
    ),
  },
);

/** The documentation's example. */
export const x402SupportedExample = (): Static<typeof X402Supported> => ({
  kinds: [X402_SCHEME, SESSION_SCHEME].map((scheme) => ({
    x402Version: X402_VERSION,
    scheme,
    network: x402Network(SAMPLE.genesisHash),
    extra: {
      custody: SAMPLE.deployment.custodyProgram,
      attestorProgram: SAMPLE.deployment.attestorProgram,
    },
  })),
  extensions: [],
  signers: {},
});

/** x402's answer to a verification. */
export const X402Verified = record("X402Verified", "Whether settling would work now.", {
  isValid: Type.Boolean(),
  invalidReason: Type.Optional(Type.String({ description: "A stable code." })),
  invalidMessage: Type.Optional(Type.String({ description: "What is wrong, and the cure." })),
  payer: Type.Optional(Address("The agent.")),
});

const SettledExtra = record("X402SettledExtra", "The escrow, and where its evidence is.", {
  escrow: Address("The escrow of the payment."),
  packet: Type.String({ description: "The address of its evidence packet." }),
  digest_sha256: Type.Optional(
    nullable(Hash("The packet's `digest_sha256`."), {
      description: "Null while the escrow is Pending: its packet is made anew at each reading.",
    }),
  ),
  state: Type.Optional(EscrowState),
  released_stroops: Type.Optional(Stroops("To the merchant.")),
  refunded_stroops: Type.Optional(Stroops("Back to the agent.")),
  expires_at: Type.Optional(Time("From here on it can only be refunded.")),
});

/** x402's answer to a settlement. */
export const X402Settled = record("X402Settled", "What became of a settlement.", {
  success: Type.Boolean(),
  errorReason: Type.Optional(Type.String({ description: "A stable code." })),
  errorMessage: Type.Optional(Type.String({ description: "What is wrong, and the cure." })),
  payer: Type.Optional(Address("The agent.")),
  transaction: Type.String({
    description: "The transaction's signature; empty where another one had done the same.",
  }),
  network: Type.String({ description: "CAIP-2." }),
  amount: Type.Optional(
    Type.String({
      description: "Base units: held by an authorization, else what went to the merchant.",
    }),
  ),
  extra: Type.Optional(SettledExtra),
});

/** The address of an escrow's packet. */
export const packetAddress = (origin: string, escrow: string): string =>
  `${origin}/v1/evidence/${escrow}`;

/** A settlement as x402's answer; `origin` is where the caller reached this service. */
export const settledRecord = (
  { escrow, network, transaction, digest }: SettledPayment,
  origin: string,
): Static<typeof X402Settled> => ({
  success: true,
  payer: escrow.agentOwner,
  transaction: transaction ?? "",
  network,
  amount: (escrow.state === "Pending" ? escrow.amount : escrow.released).toString(),
  extra: {
    escrow: escrow.address,
    packet: packetAddress(origin, escrow.address),
    digest_sha256: digest,
    state: escrow.state,
    released_stroops: escrow.released.toString(),
    refunded_stroops: refundedAmount(escrow).toString(),
    expires_at: formatUnixTime(escrow.expiresAt),
  },
});

/** The documentation's example. */
export const x402SettledExample = (): Static<typeof X402Settled> =>
  settledRecord(
    {
      escrow: sampleEscrow(),
      network: x402Network(SAMPLE.genesisHash),
      transaction: SAMPLE_SIGNATURE,
      digest: sampleEscrow().taskHash,
    },
    "https://settlement.example.com",
  );
