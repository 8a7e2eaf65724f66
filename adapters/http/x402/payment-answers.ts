import { type Static, Type } from "@sinclair/typebox";
import { refundedAmount } from "../../../core/domain/escrow/escrow.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import {
  X402_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import type { SettledPayment } from "../../../core/use-cases/x402/settle-payment.ts";
import { Address, EscrowState, Hash, nullable, record, Stroops, Time } from "../openapi/values.ts";
import { SAMPLE, sampleEscrow } from "../openapi/sample-values.ts";
import { SAMPLE_SIGNATURE } from "../relay/relay-contract.ts";

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
export const X402Supported = record("X402Supported", "What this facilitator settles.", {
  kinds: Type.Array(Kind),
  extensions: Type.Array(Type.String(), { description: "None." }),
  signers: Type.Object(
    {},
    { additionalProperties: true, description: "None: this facilitator signs nothing." },
  ),
});

/** The documentation's example. */
export const x402SupportedExample = (): Static<typeof X402Supported> => ({
  kinds: [
    {
      x402Version: X402_VERSION,
      scheme: X402_SCHEME,
      network: x402Network(SAMPLE.genesisHash),
      extra: {
        custody: SAMPLE.deployment.custodyProgram,
        attestorProgram: SAMPLE.deployment.attestorProgram,
      },
    },
  ],
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
      description: "Base units: locked before the handler, then what went to the merchant.",
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
