import type { readRelayPolicy } from "../../../core/use-cases/relay/relay-policy.ts";
import type { RelayResult } from "../../../core/use-cases/relay/relay-transaction.ts";
import type { Effect } from "effect";
import { SETTLEMENT_RULES } from "../../../core/domain/relay/settlement-rule.ts";
import type { RelayOutcome } from "../../../core/use-cases/relay/read-relay-outcome.ts";
import type { RelayOutcomeRecord, RelayPolicyRecord, RelayResultRecord } from "../schemas/relay.ts";
import { programErrorRecord, transactionErrorRecord } from "./rejection.ts";

/** The network a transaction is looked up on. */
type Network = { readonly cluster: string; readonly networkAddress: string };

/** Solana's explorer shows any cluster; it asks a private one from the reader's own browser. */
const explorerUrl = (signature: string, { cluster, networkAddress }: Network): string => {
  const url = new URL(`https://explorer.solana.com/tx/${signature}`);
  if (cluster === "localnet") {
    url.searchParams.set("cluster", "custom");
    url.searchParams.set("customUrl", networkAddress);
  } else if (cluster !== "mainnet-beta") url.searchParams.set("cluster", cluster);
  return url.href;
};

/** What became of a relayed transaction as JSON. */
export const relayResultRecord = (result: RelayResult, network: Network): RelayResultRecord => ({
  signature: result.signature,
  status: result.status,
  slot: result.slot === null ? null : Number(result.slot),
  fee_payer: result.feePayer,
  explorer_url: explorerUrl(result.signature, network),
});

/** What is known of a transaction as JSON. */
export const relayOutcomeRecord = (
  outcome: RelayOutcome,
  network: Network,
): RelayOutcomeRecord => ({
  signature: outcome.signature,
  status: outcome.status,
  commitment: outcome.commitment,
  slot: outcome.slot === null ? null : Number(outcome.slot),
  error: outcome.error === null ? null : transactionErrorRecord(outcome.error),
  program: outcome.program,
  program_error: programErrorRecord(outcome.error),
  logs: [...outcome.logs],
  last_valid_block_height:
    outcome.lastValidBlockHeight === null ? null : Number(outcome.lastValidBlockHeight),
  safe_to_sign_again: outcome.safeToSignAgain,
  explorer_url: explorerUrl(outcome.signature, network),
});

/** The relay's policy as JSON. */
export const relayPolicyRecord = (
  policy: Effect.Success<typeof readRelayPolicy>,
): RelayPolicyRecord => ({
  encodings: [...policy.encodings],
  transaction_versions: [...policy.transactionVersions],
  max_transaction_bytes: policy.maxTransactionBytes,
  required_programs: [...policy.requiredPrograms],
  allowed_programs: [...policy.allowedPrograms],
  signatures: { all_required: true, verified_before_sending: true },
  durable_nonces: false,
  max_compute_units: policy.maxComputeUnits,
  max_compute_unit_price: Number(policy.maxComputeUnitPrice),
  settlement_check: {
    rules: [...SETTLEMENT_RULES],
    clock_margin_seconds: Number(policy.clockMarginSeconds),
  },
  preflight: "unless_skipped",
  never_skipped: [...policy.neverSkipped],
  rebroadcast_ms: policy.rebroadcastMs,
  queue: {
    capacity: policy.queueCapacity,
    share_of_client: policy.queueShareOfClient,
    share_of_fee_payer: policy.queueShareOfFeePayer,
  },
  idempotency_key_seconds: policy.idempotencyKeyTtlMs / 1000,
  confirm_timeout_ms: policy.confirmTimeoutMs,
  beta_limits_enforced: policy.enforceBetaLimits,
  rate_limit: {
    requests: policy.rateLimit.requests,
    window_seconds: policy.rateLimit.windowSeconds,
    of_each: ["client", "fee_payer"],
    failed_preflight_cost: policy.failedPreflightCost,
    expired_cost: policy.expiredCost,
    max_owed_windows: policy.rateLimit.maxOwedWindows,
  },
  private_keys: "never accepted",
});
