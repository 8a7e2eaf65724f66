import { formatUsdc } from "../../../core/domain/amount.ts";
import type { EscrowPreflight } from "../../../core/use-cases/escrow/preflight-escrow.ts";
import type { PreparedEscrow } from "../../../core/use-cases/escrow/prepare-escrow.ts";
import type { PreflightRecord, PreparedEscrowRecord } from "../schemas/prepared-escrow.ts";
import { instructionRecord } from "./instruction.ts";

const SDK_CALL = {
  package: "settlement-evidence",
  method: "createEscrow",
  signer: "agent_owner",
} as const;

/** A prepared escrow as JSON. */
export const preparedEscrowRecord = (prepared: PreparedEscrow): PreparedEscrowRecord => ({
  escrow_pda: prepared.escrow,
  vault_token_account: prepared.vaultTokenAccount,
  agent_token_account: prepared.agentTokenAccount,
  merchant_pda: prepared.merchantAccount,
  bumps: prepared.bumps,
  inputs: {
    agent_owner: prepared.agentOwner,
    merchant: prepared.merchant,
    mint: prepared.mint,
    amount_stroops: prepared.amount.toString(),
    amount_usdc: formatUsdc(prepared.amount),
    ttl_seconds: prepared.ttlSeconds,
    task_hash: prepared.taskHash,
    task_hash_derived: prepared.taskHashDerived,
    task_intent: prepared.taskIntent,
    nonce: prepared.nonce,
    nonce_applied: prepared.nonceApplied,
  },
  instruction: instructionRecord(prepared.instruction),
  sdk_call: SDK_CALL,
});

/** A preflight as JSON. */
export const preflightRecord = (preflight: EscrowPreflight): PreflightRecord => ({
  ready: preflight.ready,
  merchant_status: preflight.merchantStatus,
  mint_supported: preflight.mintSupported,
  agent_balance_stroops: preflight.agentBalance?.toString() ?? null,
  balance_sufficient: preflight.balanceSufficient,
  escrow_address_free: preflight.escrowAddressFree,
  slot: Number(preflight.slot),
});
