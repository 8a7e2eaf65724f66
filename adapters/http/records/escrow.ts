import { formatUsdc } from "../../../core/domain/amount.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import { type Escrow, isRefundable, refundedAmount } from "../../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { NextAction } from "../../../core/domain/escrow/next-action.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { nextActions } from "../../../core/protocol/instructions/next-actions.ts";
import type { EscrowRecord } from "../schemas/escrow.ts";
import { openInstructionRecord } from "./instruction.ts";

/** A time as JSON, null where there is none. */
const timeOrNull = (seconds: UnixSeconds | null): string | null =>
  seconds === null ? null : formatUnixTime(seconds);

const nextActionRecord = (next: NextAction): EscrowRecord["next_actions"][number] => ({
  action: next.action,
  by: next.by,
  awaiting: next.awaiting,
  until: timeOrNull(next.until),
  instructions: next.instructions.map(openInstructionRecord),
});

/** What can be done with an escrow at a ledger time, as JSON; `agentTokens` as `nextActions` takes it. */
export const nextActionRecords = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  agentTokens?: LedgerAccount | null,
): EscrowRecord["next_actions"] =>
  nextActions(escrow, ledgerTime, deployment, agentTokens).map(nextActionRecord);

/**
 * An escrow as JSON at a ledger time, which decides whether it can be refunded; `agentTokens` as `nextActions`
 * takes it.
 */
export const escrowRecord = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
  agentTokens?: LedgerAccount | null,
): EscrowRecord => ({
  escrow_pda: escrow.address,
  state: escrow.state,
  agent_owner: escrow.agentOwner,
  merchant: escrow.merchant,
  merchant_pda: merchantAddress(deployment, escrow.merchant).address,
  mint: escrow.mint,
  vault_token_account: associatedTokenAddress(escrow.address, escrow.mint),
  rent_payer: escrow.rentPayer,
  amount_stroops: escrow.amount.toString(),
  amount_usdc: formatUsdc(escrow.amount),
  released_stroops: escrow.released.toString(),
  refunded_stroops: refundedAmount(escrow).toString(),
  task_hash: escrow.taskHash,
  proof_hash: escrow.attestation?.proofHash ?? null,
  attestor: escrow.attestation?.attestor ?? null,
  attested_at: timeOrNull(escrow.attestation?.attestedAt ?? null),
  created_at: formatUnixTime(escrow.createdAt),
  expires_at: formatUnixTime(escrow.expiresAt),
  settled_at: timeOrNull(escrow.settledAt),
  refundable: isRefundable(escrow, ledgerTime),
  next_actions: nextActionRecords(escrow, ledgerTime, deployment, agentTokens),
});
