import type { Address } from "../../../core/domain/address.ts";
import { parseAmount } from "../../../core/domain/amount.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  releaseEscrowInstruction,
  releasePartialInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { preparedTransaction } from "../../pay/prepared-transaction.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { landTransaction, type MerchantContext, type Released } from "../merchant-context.ts";
import type { Attestation } from "./attest.ts";
import { type EscrowTerms, readEscrowTerms } from "./escrow-terms.ts";

/**
 * Requires that a settlement opens no token account for these owners. @throws SettlementError `agent_account_missing`
 */
const requireThere = (
  made: ReadonlyArray<{ readonly owner: Address }>,
  owners: ReadonlyArray<Address>,
): void => {
  const missing = made.find(({ owner }) => owners.includes(owner));
  if (missing !== undefined)
    throw new SettlementError(
      "agent_account_missing",
      `${missing.owner} has closed the token account that it paid from, and the payer opens none for it.`,
      "The agent opens it, or has the escrow refunded once it has expired.",
    );
};

/**
 * The instructions of a settlement: first those that make payout accounts of `owners`, then the calls. Which accounts
 * are made is taken from the prepared transaction, because only the ledger knows which exist. Making one that exists
 * changes nothing. @throws SettlementError `agent_account_missing` when it makes one of `existing`
 */
export const withPayoutAccounts = (
  prepared: ReadonlyArray<Instruction>,
  {
    payer,
    mint,
    owners,
    existing,
  }: {
    readonly payer: Address;
    readonly mint: Address;
    readonly owners: ReadonlyArray<Address>;
    readonly existing: ReadonlyArray<Address>;
  },
  calls: ReadonlyArray<Instruction>,
): ReadonlyArray<Instruction> => {
  const made = [...new Set(owners)]
    .map((owner) => ({ owner, create: createAssociatedTokenInstruction({ payer, owner, mint }) }))
    .filter(({ create }) =>
      prepared.some(
        ({ programAddress, accounts }) =>
          programAddress === create.programAddress &&
          accounts[1]?.address === create.accounts[1]?.address,
      ),
    );
  requireThere(made, existing);
  return [...made.map(({ create }) => create), ...calls];
};

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
 * The checked, unsigned transaction that releases an escrow with an attestation; `payer` pays its fee. @throws
 * SettlementError
 */
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
  const input = { ...terms, proofHash, timestamp };
  const message = attestationMessage({
    domain: domainOf(context.policy),
    terms: terms.terms,
    proofHash,
    total: amount ?? terms.amount,
    timestamp,
    ...SINGLE_DELIVERY,
  });
  const callsOf = (deployment: Deployment) => [
    ed25519Instruction({ publicKey: attestor, signature, message }),
    amount === null
      ? releaseEscrowInstruction(deployment, input)
      : releasePartialInstruction(deployment, { ...input, amount }),
  ];
  const owners = amount === null ? [merchant] : [merchant, agentOwner];
  const existing =
    context.needsAgentAccount === true && agentOwner !== merchant ? [agentOwner] : [];
  const accounts = { payer: paying, mint, owners, existing };
  return preparedTransaction(
    context,
    "POST /v1/escrows/{pda}/release/prepare?transaction=true",
    {
      pda: terms.escrow,
      proof_hash: proofHash,
      timestamp: attestation.timestamp,
      attestation_signature: attestation.attestation_signature,
      ...(amount === null ? {} : { amount_stroops: amount.toString() }),
      payer: paying,
    },
    (deployment, instructions) => withPayoutAccounts(instructions, accounts, callsOf(deployment)),
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
  const { proof_hash: there, released_stroops: released } = terms.record;
  if (there === proofHash) return { escrow, released, signature: null };
  const { publicKey } = payer;
  const transaction = await releaseTransaction(context, terms, attestation, publicKey, signal);
  const landed = await landTransaction(context, transaction, [payer], signal);
  return { escrow, released: (amount ?? terms.amount).toString(), signature: landed };
};
