import { ZERO_ADDRESS } from "../domain/address.ts";
import type { Deployment } from "../domain/deployment.ts";
import { type Escrow, isRefundable } from "../domain/escrow.ts";
import type { NextAction, OpenInstruction } from "../domain/next-action.ts";
import type { UnixSeconds } from "../domain/unix-time.ts";
import { claimRefundInstruction } from "./custody-instructions.ts";
import { createAssociatedTokenInstruction } from "./token.ts";

/** Makes the agent's token account if it is missing, at the sender's cost; harmless when it exists. */
const ensureAgentTokenAccount = (escrow: Escrow): OpenInstruction => {
  const { programAddress, accounts, data } = createAssociatedTokenInstruction({
    payer: ZERO_ADDRESS,
    owner: escrow.agentOwner,
    mint: escrow.mint,
  });
  return {
    programAddress,
    accounts: accounts.map(({ address, role }, i) => ({ address: i === 0 ? null : address, role })),
    data,
  };
};

/**
 * What can be done with an escrow at a ledger time: release until it expires, refund from then on,
 * nothing once settled. See docs/protocol.md, "Next actions".
 */
export const nextActions = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
): ReadonlyArray<NextAction> => {
  if (escrow.state !== "Pending") return [];
  if (!isRefundable(escrow, ledgerTime))
    return [
      {
        action: "release_escrow",
        by: "holder_of_attestation",
        awaiting: "attestation",
        until: escrow.expiresAt,
        instructions: [],
      },
    ];
  const refund = claimRefundInstruction(deployment, {
    escrow: escrow.address,
    mint: escrow.mint,
    rentPayer: escrow.rentPayer,
    agentOwner: escrow.agentOwner,
  });
  return [
    {
      action: "claim_refund",
      by: "anyone",
      awaiting: null,
      until: null,
      instructions: [ensureAgentTokenAccount(escrow), refund],
    },
  ];
};
