import { formatUsdc } from "../../../core/domain/amount.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import { type Escrow, isRefundable, refundedAmount } from "../../../core/domain/escrow/escrow.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { nextActionRecords } from "./escrow.ts";

/** None of what stands in an escrow's record has a character that JSON escapes. */
const textOrNull = (text: string | null): string => (text === null ? "null" : `"${text}"`);
const timeOrNull = (seconds: UnixSeconds | null): string =>
  seconds === null ? "null" : `"${formatUnixTime(seconds)}"`;

/**
 * The JSON text of `escrowRecord`, member for member, in a third of the time that making the record and then its
 * text takes: a page is fifty of them.
 */
export const escrowText = (
  escrow: Escrow,
  ledgerTime: UnixSeconds,
  deployment: Deployment,
): string => {
  const { address, state, merchant, mint, amount, attestation } = escrow;
  const actions =
    state === "Pending" ? JSON.stringify(nextActionRecords(escrow, ledgerTime, deployment)) : "[]";
  return `{"escrow_pda":"${address}","state":"${state}","agent_owner":"${escrow.agentOwner}","merchant":"${merchant}","merchant_pda":"${merchantAddress(deployment, merchant).address}","mint":"${mint}","vault_token_account":"${associatedTokenAddress(address, mint)}","rent_payer":"${escrow.rentPayer}","amount_stroops":"${amount}","amount_usdc":"${formatUsdc(amount)}","released_stroops":"${escrow.released}","refunded_stroops":"${refundedAmount(escrow)}","task_hash":"${escrow.taskHash}","proof_hash":${textOrNull(attestation?.proofHash ?? null)},"attestor":${textOrNull(attestation?.attestor ?? null)},"attested_at":${timeOrNull(attestation?.attestedAt ?? null)},"created_at":"${formatUnixTime(escrow.createdAt)}","expires_at":"${formatUnixTime(escrow.expiresAt)}","settled_at":${timeOrNull(escrow.settledAt)},"refundable":${isRefundable(escrow, ledgerTime)},"next_actions":${actions}}`;
};
