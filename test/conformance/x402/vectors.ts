import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { createEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { readPayload } from "../../../core/protocol/x402/payment-payload.ts";
import {
  type PaymentRequirements,
  readRequirements,
  requirementsDigest,
} from "../../../core/protocol/x402/payment-requirements.ts";
import { held } from "../../client/x402/held.ts";

/** Where the vectors are kept. */
export const X402_VECTORS = new URL("../../vectors/x402.json", import.meta.url);

const NETWORK = "solana:CunRC4WUVector1111111111111111Pq";
const agent = localKey("agent/planner").address;

const base = (more: object = {}, extra: object = {}): PaymentRequirements => ({
  scheme: "auth-capture",
  network: NETWORK,
  asset: LOCAL_USDC_MINT,
  amount: "10000",
  payTo: localKey("merchant/forecast").address,
  maxTimeoutSeconds: 3600,
  ...more,
  extra: {
    ...held(1_795_003_600),
    captureAuthorizer: localKey("attestor/forecast").address,
    custody: LOCAL_DEPLOYMENT.custodyProgram,
    request: "GET https://api.example.com/v1/quotes?symbol=SOL",
    ...extra,
  },
});

const place = { network: NETWORK, custodyProgram: LOCAL_DEPLOYMENT.custodyProgram };
const NONCE = "8f14e45fceea167a5a36dedd4bea2543";

const payment = (name: string, requirements: PaymentRequirements, nonce: string) => {
  const terms = readRequirements(requirements, place);
  if ("fault" in terms) throw new Error(`${name}: ${terms.fault.detail}`);
  // Any escrow is refused with the right one named, which is how it is learned here.
  const { value } = terms;
  const right = readPayload({ agent, nonce, escrow: "" }, value, LOCAL_DEPLOYMENT);
  const escrow = "fault" in right ? (/escrow (\w+),/.exec(right.fault.detail)?.[1] ?? "") : "";
  const read = readPayload({ agent, nonce, escrow }, value, LOCAL_DEPLOYMENT);
  if ("fault" in read) throw new Error(`${name}: ${read.fault.detail}`);
  const { taskHash } = read.value;
  const { merchant, mint, attestor, amount, deadline, task } = value;
  const parties = { payer: agent, agentOwner: agent, merchant, mint, attestor };
  const create = createEscrowInstruction(LOCAL_DEPLOYMENT, {
    ...parties,
    taskHash,
    amount,
    ttlSeconds: 0,
    expiresAt: deadline,
  });
  return {
    name,
    requirements,
    agent,
    nonce,
    requirements_sha256: requirementsDigest(requirements),
    task,
    task_hash: taskHash,
    escrow,
    create_escrow: {
      accounts: create.accounts.map(({ address }) => address),
      data_base64: encodeBase64(create.data),
    },
  };
};

const refusal = (
  name: string,
  requirements: PaymentRequirements,
  payload: { readonly [member: string]: Json } | null = null,
) => {
  const terms = readRequirements(requirements, place);
  const read =
    "fault" in terms || payload === null
      ? terms
      : readPayload(payload, terms.value, LOCAL_DEPLOYMENT);
  if (!("fault" in read)) throw new Error(`${name} is not refused`);
  return { name, requirements, payload, code: read.fault.code };
};

/** The vectors of docs/x402.md, as this code computes them. */
export const x402Vectors = () => {
  const plain = payment("a request", base(), NONCE);
  const sound = { agent, nonce: NONCE, escrow: plain.escrow };
  return {
    origin:
      "test/conformance/x402/write-vectors.ts; the test beside it computes them anew with node:crypto and @solana/kit",
    network: NETWORK,
    custody_program: LOCAL_DEPLOYMENT.custodyProgram,
    attestor_program: LOCAL_DEPLOYMENT.attestorProgram,
    payments: [
      plain,
      payment("another price", base({ amount: "10001" }), NONCE),
      payment(
        "another method",
        base({}, { request: "POST https://api.example.com/v1/quotes?symbol=SOL" }),
        NONCE,
      ),
      payment("the same offer a minute later", base({}, held(1_795_003_660)), NONCE),
      payment("another nonce", base(), "c9f0f895fb98ab9159f51fd0297e236d"),
      payment(
        "members that the scheme does not know",
        base({}, { note: "Zürich 𝄞", tiers: [1, 2.5, { b: null, a: true }] }),
        NONCE,
      ),
    ],
    refusals: [
      refusal("another scheme", base({ scheme: "exact" })),
      refusal("another ledger", base({ network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" })),
      refusal("another custody program", base({}, { custody: LOCAL_DEPLOYMENT.attestorProgram })),
      refusal("no attestor", base({}, { captureAuthorizer: "" })),
      refusal("another transfer method", base({}, { assetTransferMethod: "eip3009" })),
      refusal("another flow", base({}, { paymentFlow: "authorization" })),
      refusal("a fee", base({}, { maxFeeBps: 100 })),
      refusal("no deadline", base({}, { captureDeadline: null })),
      refusal("a later deadline for refunds", base({}, { refundDeadline: 1_795_003_601 })),
      refusal("no request", base({}, { request: "https://api.example.com/" })),
      refusal("no amount", base({ amount: "0" })),
      refusal("an amount with a leading zero", base({ amount: "010000" })),
      refusal("a time to live of eight days", base({ maxTimeoutSeconds: 691_200 })),
      refusal("an unknown member", base(), { ...sound, more: 1 }),
      refusal("an unknown operation", base(), { ...sound, type: "later" }),
      refusal("a refund", base(), { ...sound, type: "refund" }),
      refusal("a void without its transaction", base(), { ...sound, type: "void" }),
      refusal("another escrow", base({ amount: "10001" }), sound),
    ],
  };
};
