import { parseAmount } from "../../../core/domain/amount.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import {
  attestationMessage,
  domainOf,
  ed25519Instruction,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import {
  releaseEscrowInstruction,
  releasePartialInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { dataBy } from "../../service/operation.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import { expectedTransaction } from "../../signing/expected-transaction.ts";
import type { MessageSigner } from "../../signing/message-signer.ts";
import type { Attestation } from "./attest.ts";
import { type EscrowTerms, readEscrowTerms } from "./escrow-terms.ts";
import { landTransaction } from "../land-transaction.ts";
import { addressNamed } from "../../pinned-policy.ts";
import type { MerchantContext } from "../merchant-context.ts";
import type { Released } from "./released.ts";
import { withPayoutAccounts } from "./with-payout-accounts.ts";

/** The attestation in its parts. @throws SettlementError for a malformed one. */
const claimIn = (attestation: Attestation) => {
  const proofHash = parseHash32(attestation.proof_hash);
  const timestamp = parseUnixTime(attestation.timestamp);
  const signature = decodeBase64(attestation.attestation_signature);
  const amount =
    attestation.amount_stroops === null ? null : parseAmount(attestation.amount_stroops);
  if (
    proofHash !== undefined &&
    timestamp !== undefined &&
    signature !== undefined &&
    amount !== undefined
  )
    return { proofHash, timestamp, signature, amount };
  throw new SettlementError(
    "invalid_attestation",
    "The attestation is malformed.",
    "Give it as `attest` printed it.",
  );
};

/** The checked, unsigned transaction that releases an escrow with an attestation; `payer` pays its fee. @throws SettlementError */
export const releaseTransaction = async (
  context: MerchantContext,
  terms: EscrowTerms,
  attestation: Attestation,
  payer: string,
  signal?: AbortSignal,
): Promise<UnsignedTransaction> => {
  const { proofHash, timestamp, signature, amount } = claimIn(attestation);
  const paying = addressNamed(payer, "payer");
  const { merchant, mint, agentOwner, attestor } = terms;
  const prepared = await dataBy(
    context.requests,
    "POST /v1/escrows/{pda}/release/prepare?transaction=true",
    {
      pda: terms.escrow,
      proof_hash: proofHash,
      timestamp: attestation.timestamp,
      attestation_signature: attestation.attestation_signature,
      ...(amount === null ? {} : { amount_stroops: amount.toString() }),
      payer: paying,
    },
    { signal },
  );
  const deployment = deploymentIn(context.policy);
  const input = { ...terms, proofHash, timestamp };
  const message = attestationMessage({
    domain: domainOf(context.policy),
    terms: terms.terms,
    proofHash,
    total: amount ?? terms.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  const calls = [
    ed25519Instruction({ publicKey: attestor, signature, message }),
    amount === null
      ? releaseEscrowInstruction(deployment, input)
      : releasePartialInstruction(deployment, { ...input, amount }),
  ];
  const owners = amount === null ? [merchant] : [merchant, agentOwner];
  const existing =
    context.needsAgentAccount === true && agentOwner !== merchant ? [agentOwner] : [];
  return expectedTransaction(
    prepared.transaction?.base64 ?? "",
    paying,
    (found) => withPayoutAccounts(found, { payer: paying, mint, owners, existing }, calls),
    context.mostPriorityFee,
  );
};

/** Releases an escrow with an attestation. Anyone may: `payer` pays the fee. Safe to run again. @throws SettlementError */
export const release = async (
  context: MerchantContext,
  {
    attestation,
    payer,
    signal,
  }: {
    readonly attestation: Attestation;
    readonly payer: MessageSigner;
    readonly signal?: AbortSignal;
  },
): Promise<Released> => {
  const { escrow } = attestation;
  const { proofHash, amount } = claimIn(attestation);
  const terms = await readEscrowTerms(context, escrow, signal);
  const { proof_hash: there, released_stroops: released } = terms.record;
  if (there === proofHash) return { escrow, released, signature: null };
  const { publicKey } = payer;
  const transaction = await releaseTransaction(context, terms, attestation, publicKey, signal);
  const landed = await landTransaction(context, transaction, [payer], signal);
  return { escrow, released: (amount ?? terms.amount).toString(), signature: landed };
};
