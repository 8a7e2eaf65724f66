import type { Address } from "../../../../core/domain/address.ts";
import type { Deployment } from "../../../../core/domain/ledger/deployment.ts";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { eventKindOf, type EventKind } from "../../../../core/domain/index/settlement-event.ts";
import {
  cancelEscrowInstruction,
  claimRefundInstruction,
  createEscrowInstruction,
  releaseEscrowInstruction,
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
    sessionKey: escrow.sessionKey,
    ttlSeconds: Number(escrow.expiresAt - escrow.createdAt),
  });

/** The instruction that settled an escrow, and its event. @throws Error for a Pending one. */
export const settlementOf = (
  escrow: Escrow,
  deployment: Deployment,
): { readonly kind: EventKind; readonly ix: Instruction } => {
  const target = { ...escrow, escrow: escrow.address };
  const kind = eventKindOf(escrow.state);
  switch (escrow.settledBy) {
    case "release":
      return { kind, ix: releaseEscrowInstruction(deployment, target) };
    case "refund":
      return { kind, ix: claimRefundInstruction(deployment, target) };
    case "cancel":
      return { kind, ix: cancelEscrowInstruction(deployment, target) };
    case null:
      throw new Error("a Pending escrow is not settled");
  }
};
