import type { readRelayPolicy } from "../../../core/use-cases/relay-policy.ts";
import type { RelayResult } from "../../../core/use-cases/relay-transaction.ts";
import type { Effect } from "effect";
import type { RelayPolicyRecord, RelayResultRecord } from "../schemas/relay.ts";

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
  preflight: "unless_skipped",
  confirm_timeout_ms: policy.confirmTimeoutMs,
  beta_limits_enforced: policy.enforceBetaLimits,
  rate_limit: {
    requests: policy.rateLimit.requests,
    window_seconds: policy.rateLimit.windowSeconds,
  },
  private_keys: "never accepted",
});
