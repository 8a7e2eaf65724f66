import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import {
  type AttestationClaim,
  attestationMessage,
} from "../../../../core/protocol/instructions/attestation.ts";
import {
  type VoucherClaim,
  voucherMessage,
} from "../../../../core/protocol/instructions/voucher.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import {
  archiveEscrowInstruction,
  cancelEscrowInstruction,
  captureInstruction,
  claimRefundInstruction,
  closeSessionInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
  returnRentInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { claimOver } from "../../../doubles/attested.ts";
import { MINT, NETWORK } from "../../../adapters/http/support/parties.ts";
import type { Wallet } from "../../../programs/fixture/wallet.ts";
import { EXPIRED, payloadOf, PENDING, provenOf, SESSION } from "./escrows.ts";
import { LEDGER_TIME } from "./fixed-clock.ts";
import { AGENT, ATTESTOR, MERCHANT, RELAYER, SESSION_KEY } from "./parties.ts";

const targetOf = (escrow: Escrow) => ({
  escrow: escrow.address,
  mint: escrow.mint,
  rentPayer: escrow.rentPayer,
  merchant: escrow.merchant,
  agentOwner: escrow.agentOwner,
});

/** The creation of an escrow for a new task of the agent. The relayer pays the rent. */
export const create = (
  terms: Partial<Parameters<typeof createEscrowInstruction>[1]> = {},
): Instruction =>
  createEscrowInstruction(LOCAL_DEPLOYMENT, {
    payer: RELAYER.address,
    agentOwner: AGENT.address,
    merchant: MERCHANT.wallet,
    mint: MINT,
    taskHash: taskHash("a new task"),
    amount: 1_500_000n,
    ttlSeconds: 3600,
    ...terms,
  });

/** The attestor's signed claim for all of an escrow, at the ledger's present time. */
export const attest = (
  claim: Partial<AttestationClaim> = {},
  by: Wallet = ATTESTOR,
  escrow: Escrow = PENDING,
): Instruction => {
  const message = attestationMessage(
    claimOver(escrow, NETWORK, {
      proofHash: proofHash(payloadOf(PENDING)),
      timestamp: LEDGER_TIME,
      ...claim,
    }),
  );
  return ed25519Instruction({ publicKey: by.address, signature: by.sign(message), message });
};

/** The release of an escrow, by the attestation before it. */
export const release = (escrow: Escrow = PENDING): Instruction =>
  releaseEscrowInstruction(LOCAL_DEPLOYMENT, targetOf(escrow));

/**
 * The attestation and the voucher for three deliveries of the session, half of its amount; a part of the voucher may
 * differ.
 */
export const prove = (
  voucher: Partial<VoucherClaim> = {},
  by: Wallet = SESSION_KEY,
  isFinal = false,
): Instruction => {
  const { attestation, message } = provenOf(SESSION, { isFinal });
  const vouched = voucherMessage({ ...message, ...voucher });
  return ed25519Instruction(attestation, {
    publicKey: by.address,
    signature: by.sign(vouched),
    message: vouched,
  });
};

/** The capture of the session. */
export const capture = (escrow: Escrow = SESSION): Instruction =>
  captureInstruction(LOCAL_DEPLOYMENT, targetOf(escrow));

/** The closing of a session, which its agent signs. */
export const close = (escrow: Escrow): Instruction =>
  closeSessionInstruction(LOCAL_DEPLOYMENT, targetOf(escrow));

/** The return of a settled escrow's rent. */
export const returnRent = (escrow: Escrow): Instruction =>
  returnRentInstruction(LOCAL_DEPLOYMENT, targetOf(escrow));

/** The cancellation of an escrow, which its merchant's wallet signs. */
export const cancel = (escrow: Escrow): Instruction =>
  cancelEscrowInstruction(LOCAL_DEPLOYMENT, targetOf(escrow));

/** The refund of an escrow. */
export const refund = (escrow: Escrow = EXPIRED, agentFallbackAccount?: Address): Instruction =>
  claimRefundInstruction(LOCAL_DEPLOYMENT, { ...targetOf(escrow), agentFallbackAccount });

/** The archiving of an escrow, with the bytes that it has. */
export const archive = (escrow: Escrow): Instruction =>
  archiveEscrowInstruction(LOCAL_DEPLOYMENT, {
    ...targetOf(escrow),
    lastBytes: encodeEscrowAccount(escrow),
  });

/** The registration of the agent as a merchant with an attestor key under which nothing verifies. */
export const registerUnusable = (): Instruction =>
  registerMerchantInstruction(LOCAL_DEPLOYMENT, {
    payer: RELAYER.address,
    merchant: AGENT.address,
    attestor: addressFromBytes(new Uint8Array(32).with(0, 1)),
    name: "Unusable",
  });
