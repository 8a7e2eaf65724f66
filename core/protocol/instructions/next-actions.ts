import { ZERO_ADDRESS } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { type Escrow, isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { NextAction, OpenInstruction } from "../../domain/escrow/next-action.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { claimRefundInstruction } from "./custody-instructions.ts";
import { isVacant } from "../rules/custody-call.ts";
import { createAssociatedTokenInstruction, decodeTokenAccount } from "../accounts/token.ts";

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

/** Whether a refund into the agent's associated account works: it is the agent's and not frozen, or there is none yet. */
const canBePaid = (account: LedgerAccount | null, { agentOwner, mint }: Escrow): boolean => {
  if (account === null || isVacant(account)) return true;
  const token = decodeTokenAccount(account);
  return token?.owner === agentOwner && token.mint === mint && !token.frozen;
};

/**
 * What can be done with an escrow at a ledger time: release until it expires, refund from then on,
 * nothing once settled. `agentTokens` is the agent's associated account, null where there is none, undefined
 * where it was not looked at. See docs/protocol.md, "Next actions".
 */
export const nextActions = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  agentTokens?: LedgerAccount | null,
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
  const claim = { action: "claim_refund", by: "anyone", until: null } as const;
  if (agentTokens !== undefined && !canBePaid(agentTokens, escrow))
    return [{ ...claim, awaiting: "payout_account", instructions: [] }];
  const refund = claimRefundInstruction(deployment, {
    escrow: escrow.address,
    mint: escrow.mint,
    rentPayer: escrow.rentPayer,
    agentOwner: escrow.agentOwner,
  });
  return [{ ...claim, awaiting: null, instructions: [ensureAgentTokenAccount(escrow), refund] }];
};
