import { parseAmount } from "../../../core/domain/amount.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { releaseEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { payoutAccountIn } from "../../pay/payout-account.ts";
import {
  isBareFirst,
  landedSettlement,
  type PreparedSettlement,
  preparedSettlement,
} from "../../pay/settlement.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { landTransaction, type MerchantContext, type Released } from "../merchant-context.ts";
import type { Attestation } from "./attest.ts";
import { type EscrowTerms, readEscrowTerms, requireSinglePayment } from "./escrow-terms.ts";

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

/**
 * The checked, unsigned transaction that releases an escrow with an attestation; `payer` pays its fee. With `isBare`
 * nothing follows the release. @throws SettlementError
 */
export const releaseTransaction = async (
  context: MerchantContext,
  terms: EscrowTerms,
  attestation: Attestation,
  {
    payer,
    isBare = isBareFirst(terms.ledgerTime, terms.endsAt),
  }: { readonly payer: string; readonly isBare?: boolean },
  signal?: AbortSignal,
): Promise<PreparedSettlement> => {
  const { proofHash, timestamp, signature, amount } = claimIn(attestation);
  const paying = addressNamed(payer, "payer");
  const { merchant, mint, attestor } = terms;
  const message = attestationMessage({
    domain: domainOf(context.policy),
    terms: terms.terms,
    proofHash,
    total: amount ?? terms.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  return preparedSettlement(
    context,
    "POST /v1/escrows/{pda}/release/prepare?transaction=true",
    {
      pda: terms.escrow,
      proof_hash: proofHash,
      timestamp: attestation.timestamp,
      attestation_signature: attestation.attestation_signature,
      ...(amount === null ? {} : { amount_stroops: amount.toString() }),
      payer: paying,
      ...(isBare ? { bare: true } : {}),
    },
    {
      escrow: terms,
      own: (deployment, prepared) => [
        ...payoutAccountIn(prepared, { payer: paying, owner: merchant, mint }),
        ed25519Instruction({ publicKey: attestor, signature, message }),
        releaseEscrowInstruction(deployment, terms),
      ],
      isBare,
    },
    signal,
  );
};

/**
 * Releases an escrow with an attestation. Anyone may: `payer` pays the fee. Safe to run again. @throws SettlementError
 */
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
  requireSinglePayment(terms);
  if (terms.record.proof_hash === proofHash)
    return { escrow, released: terms.released.toString(), signature: null };
  const { publicKey } = payer;
  const signature = await landedSettlement(
    (isBare) =>
      releaseTransaction(context, terms, attestation, { payer: publicKey, isBare }, signal),
    (transaction) => landTransaction(context, transaction, [payer], signal),
    isBareFirst(terms.ledgerTime, terms.endsAt),
  );
  return { escrow, released: (amount ?? terms.amount).toString(), signature };
};
