import type { Deployment } from "../../domain/ledger/deployment.ts";
import { type Escrow, isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { NextAction } from "../../domain/escrow/prepared-call.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { ARCHIVE_DELAY_SECONDS } from "../accounts/escrow-rules.ts";
import { isVacant } from "../rules/custody-call.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { revokedFault } from "../rules/release-rules.ts";
import { choosePayout } from "../rules/payout-rules.ts";
import { claimRefundInstruction } from "./custody-instructions.ts";
import { openAssociatedToken } from "./account-instructions.ts";

const refund = (
  escrow: Escrow,
  deployment: Deployment,
  agentTokens: LedgerAccount | null | undefined,
): NextAction => {
  const claim = {
    escrow: escrow.address,
    action: "claim_refund",
    by: "anyone",
    until: null,
  } as const;
  const { agentOwner, mint } = escrow;
  const payee = { owner: agentOwner, mint, associated: agentTokens ?? null, fallback: null };
  if (choosePayout(payee).kind === "none")
    return { ...claim, awaiting: "payout_account", instructions: [] };
  const instruction = claimRefundInstruction(deployment, {
    escrow: escrow.address,
    mint,
    rentPayer: escrow.rentPayer,
    agentOwner,
  });
  // When the account was not read, the instruction to make it is included. It fails only when the account has another owner.
  const isAbsent = agentTokens === undefined || agentTokens === null || isVacant(agentTokens);
  const made = isAbsent ? [openAssociatedToken(agentOwner, mint)] : [];
  return { ...claim, awaiting: null, instructions: [...made, instruction] };
};

/** What was read around an escrow; undefined where it was not looked at. */
export type ActionGround = {
  /** The agent's associated account, null where there is none. */
  readonly agentTokens?: LedgerAccount | null | undefined;
  readonly merchant?: Merchant | undefined;
};

/**
 * What can be done with an escrow at a ledger time: release and cancel until it expires, refund from then on, archive a week
 * after settlement. An escrow whose attestor is known to be revoked cannot be released. See docs/protocol.md, "Next actions".
 */
export const nextActions = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  { agentTokens, merchant }: ActionGround = {},
): ReadonlyArray<NextAction> => {
  const { settledAt, expiresAt } = escrow;
  if (settledAt !== null)
    return ledgerTime < settledAt + ARCHIVE_DELAY_SECONDS
      ? []
      : [
          {
            escrow: escrow.address,
            action: "archive_escrow",
            by: "anyone",
            awaiting: null,
            until: null,
            instructions: [],
          },
        ];
  if (isRefundable(escrow, ledgerTime)) return [refund(escrow, deployment, agentTokens)];
  const shared = { escrow: escrow.address, until: expiresAt, instructions: [] } as const;
  const isRevoked = merchant !== undefined && revokedFault(escrow, merchant) !== undefined;
  return [
    ...(isRevoked
      ? []
      : [
          {
            ...shared,
            action: "release_escrow",
            by: "holder_of_attestation",
            awaiting: "attestation",
          } as const,
        ]),
    { ...shared, action: "cancel_escrow", by: "merchant_wallet", awaiting: null },
  ];
};
