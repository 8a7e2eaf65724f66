import type { Address } from "../../core/domain/address.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { CUSTODY_INSTRUCTIONS } from "../../core/protocol/generated/custody.ts";
import { createEscrowInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { decodeArgs, isInstruction } from "../../core/protocol/instructions/instruction-layout.ts";
import { addressNamed } from "../pinned-policy.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import { dataBy } from "../service/operation.ts";
import { expectedTransaction } from "../signing/expected-transaction.ts";
import {
  type AcceptedSigner,
  type SignedTransaction,
  signTransaction,
} from "../signing/sign-transaction.ts";
import { deploymentIn, type PaymentTerms } from "./payment-terms.ts";
import type { PrepareContext } from "./prepared-transaction.ts";

/** The signers: the agent, and the payer of fee and rent when that is somebody else. */
export type LockSigners = {
  readonly signer: AcceptedSigner;
  readonly payer?: AcceptedSigner | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The attestor key that the service put in. Only the ledger knows the merchant's present one, and checks it. */
const attestorIn = (data: Uint8Array | undefined): Address | undefined =>
  data !== undefined && isInstruction(CUSTODY_INSTRUCTIONS.create_escrow, data)
    ? decodeArgs(CUSTODY_INSTRUCTIONS.create_escrow, data).attestor
    : undefined;

/** What a locking transaction is built from. */
export type LockedTerms = Pick<
  PaymentTerms,
  | "agent"
  | "merchant"
  | "taskHash"
  | "amount"
  | "ttlSeconds"
  | "expiresAt"
  | "attestor"
  | "sessionKey"
> & { readonly mint: { readonly address: Address } };

/**
 * Rebuilds the transaction of these terms, in which `payer` pays fee and rent, and returns it. @throws SettlementError
 * `prepared_otherwise` when `base64` is not the same, byte for byte
 */
export const expectedLock = (
  base64: string,
  policy: TrustPolicy,
  terms: LockedTerms,
  payer: Address,
  mostPriorityFee?: bigint,
): UnsignedTransaction =>
  expectedTransaction(
    base64,
    payer,
    (instructions) => [
      createEscrowInstruction(deploymentIn(policy), {
        payer,
        agentOwner: terms.agent,
        merchant: terms.merchant,
        mint: terms.mint.address,
        taskHash: terms.taskHash,
        attestor: terms.attestor ?? attestorIn(instructions[0]?.data),
        sessionKey: terms.sessionKey,
        amount: terms.amount,
        ...(terms.expiresAt === null
          ? { ttlSeconds: terms.ttlSeconds }
          : { ttlSeconds: 0, expiresAt: terms.expiresAt }),
      }),
    ],
    mostPriorityFee,
  );

/** The signed transaction that locks the payment, checked before it is signed. @throws SettlementError */
export const lockingTransaction = async (
  { requests, policy, mostPriorityFee }: PrepareContext,
  terms: PaymentTerms,
  { signer, payer = signer, signal }: LockSigners,
): Promise<SignedTransaction> => {
  const paying = payer === signer ? terms.agent : addressNamed(payer.address, "payer");
  const prepared = await dataBy(
    requests,
    "POST /v1/escrows/prepare?transaction=true",
    {
      agent_owner: terms.agent,
      merchant: terms.merchant,
      mint: terms.mint.address,
      amount_stroops: terms.amount.toString(),
      ttl_seconds: terms.ttlSeconds,
      ...(terms.expiresAt === null ? {} : { expires_at: formatUnixTime(terms.expiresAt) }),
      task_intent: terms.task,
      nonce: terms.nonce,
      ...(terms.attestor === null ? {} : { attestor: terms.attestor }),
      ...(terms.sessionKey === null ? {} : { session_key: terms.sessionKey }),
      ...(payer === signer ? {} : { payer: paying }),
    },
    { signal },
  );
  const base64 = prepared.transaction?.base64 ?? "";
  const unsigned = expectedLock(base64, policy, terms, paying, mostPriorityFee);
  return signTransaction(unsigned, [signer, payer]);
};
