import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { escrowAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import {
  type PaymentRequirements,
  readRequirements,
  X402_VERSION,
  x402Network,
} from "../../../../core/protocol/x402/payment-requirements.ts";
import {
  CREATED_AT,
  GENESIS,
  MINT,
  NETWORK as TEST_NETWORK,
} from "../../../adapters/http/support/parties.ts";
import { attestedBy, UNSIGNED } from "../../../doubles/attested.ts";
import { numbered } from "../../../arbitraries/escrow-numbers.ts";
import { delivered, NEXT_SEQ, payloadOf, PENDING, refunded } from "./escrows.ts";
import { held } from "../../../client/x402/held.ts";
import { LEDGER_TIME } from "./fixed-clock.ts";
import { AGENT, ATTESTOR, MERCHANT, MERCHANT_WALLET, RELAYER } from "./parties.ts";
import { attest, cancel, create, release } from "./settlements.ts";
import { relayed } from "./transactions.ts";

const NONCE = "8f14e45fceea167a5a36dedd4bea2543";
/** What the payment is of, base units. */
const PRICE = 1_500_000n;
/** What the seller asks for in the end, base units, when it delivers only a part. */
export const PART = 400_000n;
const TTL_SECONDS = 3600;
const NETWORK = x402Network(GENESIS);
/** When the escrow ends. */
const DEADLINE = Number(CREATED_AT) + TTL_SECONDS;

/** What the seller asks for one request, with some members changed. */
export const requirements = (
  change: Partial<PaymentRequirements> = {},
  extra: Readonly<Record<string, Json>> = {},
): PaymentRequirements => ({
  scheme: "auth-capture",
  network: NETWORK,
  asset: MINT,
  amount: PRICE.toString(),
  payTo: MERCHANT.wallet,
  maxTimeoutSeconds: TTL_SECONDS,
  ...change,
  extra: {
    custody: LOCAL_DEPLOYMENT.custodyProgram,
    captureAuthorizer: ATTESTOR.address,
    ...held(DEADLINE),
    request: "GET https://api.example.com/v1/quotes?symbol=SOL",
    ...extra,
  },
});

/** The task of the agent's payment of these requirements. */
const taskOf = (accepted: PaymentRequirements) => {
  const place = { network: NETWORK, custodyProgram: LOCAL_DEPLOYMENT.custodyProgram };
  const read = readRequirements(accepted, place);
  if ("fault" in read) throw new Error(read.fault.detail);
  return taskHash(read.value.task, NONCE);
};
const task = taskOf(requirements());

/** The escrow that the payment makes, as it is on the ledger then. The ledger does not have it at first. */
export const PAID: Escrow = {
  ...numbered({
    ...escrowAddress(LOCAL_DEPLOYMENT, AGENT.address, task),
    state: "Pending",
    agentOwner: AGENT.address,
    merchant: MERCHANT.wallet,
    mint: MINT,
    rentPayer: RELAYER.address,
    taskHash: task,
    amount: PRICE,
    released: 0n,
    createdAt: CREATED_AT,
    expiresAt: BigInt(DEADLINE),
    settledAt: null,
    attestor: ATTESTOR.address,
    attestation: null,
  }),
  createdSeq: NEXT_SEQ,
};
/** What its settlement sets, whichever it is. */
const SETTLED = { settledAt: LEDGER_TIME, settledSeq: NEXT_SEQ + 1n };
/** What the account keeps of the claim in its release: a release is done only by its own claim. */
const attested = (escrow: Escrow): Escrow => {
  const proof = proofHash(payloadOf(PENDING));
  const attestation = { proofHash: proof, attestedAt: LEDGER_TIME, signature: UNSIGNED };
  return attestedBy({ ...escrow, ...SETTLED, attestation }, TEST_NETWORK, ATTESTOR.sign);
};
/** That escrow once all of it is released. */
export const RELEASED = attested(delivered(PAID, PRICE));
/** That escrow once a part of it is released. */
export const RELEASED_IN_PART = attested(delivered(PAID, PART));
/** That escrow once the merchant has cancelled it. */
export const CANCELLED: Escrow = { ...refunded(PAID), ...SETTLED, settledBy: "cancel" };

/** An escrow's account. */
export const accountOf = (escrow: Escrow): LedgerAccount => ({
  address: escrow.address,
  owner: LOCAL_DEPLOYMENT.custodyProgram,
  lamports: 1n,
  executable: false,
  data: encodeEscrowAccount(escrow),
});

const ENDS = { ttlSeconds: 0, expiresAt: BigInt(DEADLINE) };
/** The agent's signed `create_escrow` of the payment, with some terms changed. */
export const createPaid = (label: string, terms: Parameters<typeof create>[0] = {}): string =>
  relayed(
    label,
    [create({ taskHash: task, attestor: ATTESTOR.address, ...ENDS, ...terms })],
    AGENT,
  );

/** The signed release of all of the payment's escrow. */
export const RELEASE = relayed("x402 release", [attest({}, ATTESTOR, PAID), release(PAID)]);

/** The signed release of a part of the payment's escrow. */
export const PARTIAL_RELEASE = relayed("x402 partial release", [
  attest({ total: PART }, ATTESTOR, PAID),
  release(PAID),
]);

/** The cancellation of the payment's escrow, signed by the merchant's wallet. */
export const CANCELLATION = relayed("x402 cancellation", [cancel(PAID)], MERCHANT_WALLET);

/** What a body says beside its good members. */
export type PaymentChange = {
  readonly payload?: Readonly<Record<string, Json>>;
  /** What the buyer accepted, and the seller asks for unless `asked` says otherwise. */
  readonly accepted?: PaymentRequirements;
  readonly asked?: PaymentRequirements;
  readonly version?: number;
};

/** The body of a payment. Its transaction is a good `create_escrow` unless the change has another one. */
export const paymentBody = ({
  payload = {},
  accepted = requirements(),
  asked = accepted,
  version = X402_VERSION,
}: PaymentChange = {}) => ({
  x402Version: version,
  paymentPayload: {
    x402Version: version,
    accepted,
    payload: {
      agent: AGENT.address,
      nonce: NONCE,
      escrow: PAID.address,
      create: createPaid("x402 create"),
      ...payload,
    },
  },
  paymentRequirements: asked,
});

/** A good payment of another amount, base units. */
export const paymentOf = (amount: bigint): PaymentChange => {
  const accepted = requirements({ amount: amount.toString() });
  const taskHash = taskOf(accepted);
  const { address: escrow } = escrowAddress(LOCAL_DEPLOYMENT, AGENT.address, taskHash);
  return { accepted, payload: { escrow, create: createPaid("x402", { taskHash, amount }) } };
};
