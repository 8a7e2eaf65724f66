import type { Deployment } from "../../domain/ledger/deployment.ts";
import { endOf, type Escrow, isRefundable } from "../../domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { NextAction, OpenInstruction } from "../../domain/escrow/prepared-call.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { ARCHIVE_DELAY_SECONDS } from "../accounts/escrow-rules.ts";
import { decodeTokenAccount } from "../accounts/token.ts";
import { isVacant } from "../rules/custody-call.ts";
import { revokedFault } from "../rules/release-rules.ts";
import { choosePayout } from "../rules/payout-rules.ts";
import { claimRefundInstruction, returnRentInstruction } from "./custody-instructions.ts";
import { openAssociatedToken } from "./account-instructions.ts";

/** What was read around an escrow; undefined where it was not looked at. */
export type ActionGround = {
  /** The agent's associated account, null where there is none. */
  readonly agentTokens?: LedgerAccount | null | undefined;
  readonly merchant?: Merchant | undefined;
  /** The escrow's vault, null where there is none: it was closed. */
  readonly vault?: LedgerAccount | null | undefined;
  /** What `return_rent` would give back, by `returnableRent`. */
  readonly returnable?: bigint | undefined;
  /** The last bytes of an escrow whose tombstone stands on the ledger. */
  readonly archived?: Uint8Array | undefined;
};

/**
 * What `claim_refund` names of the agent, and what must come before it; null while the agent has no account to be paid
 * into.
 */
const payoutOf = (
  { agentOwner, mint }: Escrow,
  { agentTokens, vault }: ActionGround,
): {
  readonly agentOwner: Escrow["agentOwner"] | null;
  readonly before: ReadonlyArray<OpenInstruction>;
} | null => {
  const held = vault === undefined || vault === null ? undefined : decodeTokenAccount(vault);
  if (held?.amount === 0n) return { agentOwner: null, before: [] };
  const payee = { owner: agentOwner, mint, associated: agentTokens ?? null, fallback: null };
  if (choosePayout(payee).kind === "none") return null;
  // When the account was not read, the instruction to make it is included. It fails only when the account has another
  // owner.
  const isAbsent = agentTokens === undefined || agentTokens === null || isVacant(agentTokens);
  return { agentOwner, before: isAbsent ? [openAssociatedToken(agentOwner, mint)] : [] };
};

/**
 * Empties and closes the vault; the rent goes back behind it, unless both together are too large with an archived
 * escrow's last bytes.
 */
const refund = (escrow: Escrow, deployment: Deployment, ground: ActionGround): NextAction => {
  const { address, mint, rentPayer } = escrow;
  const claim = { escrow: address, action: "claim_refund", by: "anyone", until: null } as const;
  const payout = payoutOf(escrow, ground);
  if (payout === null) return { ...claim, awaiting: "payout_account", instructions: [] };
  const { agentOwner, before } = payout;
  const lastBytes = ground.archived;
  const instructions = [
    ...before,
    claimRefundInstruction(deployment, { escrow: address, mint, agentOwner, lastBytes }),
    ...(lastBytes === undefined
      ? [returnRentInstruction(deployment, { escrow: address, rentPayer })]
      : []),
  ];
  return { ...claim, awaiting: null, instructions };
};

/** What is left to do with a settled escrow: empty its vault, return its rent, archive it. */
const settledActions = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  ground: ActionGround,
): ReadonlyArray<NextAction> => {
  const { address, rentPayer, settledAt } = escrow;
  const { vault, returnable, archived } = ground;
  const shared = { escrow: address, by: "anyone", awaiting: null, until: null } as const;
  const hasVault = vault !== undefined && !isVacant(vault);
  const isArchivable =
    archived === undefined && settledAt !== null && ledgerTime >= settledAt + ARCHIVE_DELAY_SECONDS;
  const rent = returnRentInstruction(deployment, {
    escrow: address,
    rentPayer,
    lastBytes: archived,
  });
  return [
    ...(hasVault ? [refund(escrow, deployment, ground)] : []),
    ...(!hasVault && returnable !== undefined && returnable > 0n
      ? [{ ...shared, action: "return_rent", instructions: [rent] } as const]
      : []),
    ...(isArchivable ? [{ ...shared, action: "archive_escrow", instructions: [] } as const] : []),
  ];
};

/**
 * What can be done with an escrow at a ledger time: release and cancel until it ends, and capture and close a session;
 * refund from then on;
 * afterwards claim what the vault still holds, return rent, archive a week after settlement. An escrow whose attestor
 * is known to be revoked can be
 * neither captured nor released. See docs/prepare.md, "Next actions".
 */
export const nextActions = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  ground: ActionGround = {},
): ReadonlyArray<NextAction> => {
  const { merchant } = ground;
  if (escrow.settledAt !== null) return settledActions(escrow, ledgerTime, deployment, ground);
  if (isRefundable(escrow, ledgerTime)) return [refund(escrow, deployment, ground)];
  const shared = { escrow: escrow.address, until: endOf(escrow), instructions: [] } as const;
  const isRevoked = merchant !== undefined && revokedFault(escrow, merchant) !== undefined;
  const isSession = escrow.sessionKey !== null;
  const payment = {
    ...shared,
    by: "holder_of_attestation",
    awaiting: isSession ? "attestation_and_voucher" : "attestation",
  } as const;
  const captures = isSession && escrow.released < escrow.amount;
  const closes = isSession && escrow.closesAt === null;
  return [
    ...(!isRevoked && captures ? [{ ...payment, action: "capture" } as const] : []),
    ...(isRevoked ? [] : [{ ...payment, action: "release_escrow" } as const]),
    { ...shared, action: "cancel_escrow", by: "merchant_wallet", awaiting: null },
    ...(closes
      ? [{ ...shared, action: "close_session", by: "agent_wallet", awaiting: null } as const]
      : []),
  ];
};
