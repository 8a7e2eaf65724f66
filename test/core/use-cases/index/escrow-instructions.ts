import type { Address } from "../../../../core/domain/address.ts";
import type { Deployment } from "../../../../core/domain/ledger/deployment.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import type { EventKind } from "../../../../core/domain/index/settlement-event.ts";
import {
  claimRefundInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
  releasePartialInstruction,
} from "../../../../core/protocol/instructions/custody-instructions.ts";

/** The instruction that creates an escrow, paid by `payer`. */
export const creationOf = (escrow: Escrow, payer: Address, deployment: Deployment): Instruction =>
  createEscrowInstruction(deployment, {
    payer,
    agentOwner: escrow.agentOwner,
    merchant: escrow.merchant,
    mint: escrow.mint,
    taskHash: escrow.taskHash,
    amount: escrow.amount,
    ttlSeconds: Number(escrow.expiresAt - escrow.createdAt),
  });

/** The instruction that settled an escrow, and its event. @throws Error for a Pending one. */
export const settlementOf = (
  escrow: Escrow,
  deployment: Deployment,
): { readonly kind: EventKind; readonly ix: Instruction } => {
  const { address, mint, rentPayer, merchant, agentOwner, attestation } = escrow;
  const target = { escrow: address, mint, rentPayer };
  const release = {
    ...target,
    merchant,
    proofHash: attestation?.proofHash ?? escrow.taskHash,
    timestamp: attestation?.attestedAt ?? 0n,
  };
  switch (escrow.state) {
    case "Fulfilled":
      return { kind: "escrow_released", ix: releaseEscrowInstruction(deployment, release) };
    case "PartiallyFulfilled":
      return {
        kind: "escrow_partially_released",
        ix: releasePartialInstruction(deployment, {
          ...release,
          agentOwner,
          amount: escrow.released,
        }),
      };
    case "Refunded":
      return {
        kind: "escrow_refunded",
        ix: claimRefundInstruction(deployment, { ...target, agentOwner }),
      };
    case "Pending":
      throw new Error("a Pending escrow is not settled");
  }
};
