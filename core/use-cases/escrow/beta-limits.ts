import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import type { Address } from "../../domain/address.ts";
import { formatUsdc } from "../../domain/amount.ts";
import { isUsdc, listedMint } from "../../domain/supported-mint.ts";
import { BetaLimitExceeded, type FieldFault, type LimitedTerm } from "../request-errors.ts";

/** The planned limits of a beta on mainnet. Always reported, enforced only where configured. */
export const BETA_LIMITS = {
  status: "planned_limited_beta",
  firstWedge: "api_data_commerce",
  /** Base units: 100.00 USDC. */
  maxEscrowAmount: 100_000_000n,
  maxTtlSeconds: 86_400,
  supportedAssets: ["USDC"],
  requiredControls: [
    "external_contract_review",
    "merchant_allowlist",
    "evidence_signing_key",
    "rate_limited_public_relay",
    "upgrade_authority_policy",
  ],
} as const;

/** Fails when this instance enforces the beta's limits and an escrow of these terms exceeds one. */
export const enforceBetaLimits = Effect.fnUntraced(function* (terms: {
  /** Null when not known. The limits refuse that. */
  readonly mint: Address | null;
  readonly amount: bigint;
  readonly ttlSeconds: number;
}) {
  const instance = yield* Instance;
  if (!instance.enforceBetaLimits) return;
  const faults: Array<FieldFault<LimitedTerm>> = [];
  if (terms.amount > BETA_LIMITS.maxEscrowAmount)
    faults.push({
      field: "amount",
      detail: `the beta takes at most ${formatUsdc(BETA_LIMITS.maxEscrowAmount)} USDC an escrow`,
    });
  if (terms.ttlSeconds > BETA_LIMITS.maxTtlSeconds)
    faults.push({
      field: "ttlSeconds",
      detail: `the beta takes at most ${BETA_LIMITS.maxTtlSeconds} seconds`,
    });
  if (terms.mint === null || !isUsdc(listedMint(instance.supportedMints, terms.mint)))
    faults.push({ field: "mint", detail: "the beta takes the supported asset only" });
  if (faults.length > 0) return yield* new BetaLimitExceeded({ faults });
});
