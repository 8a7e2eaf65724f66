import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import { formatUsdc } from "../../domain/amount.ts";
import { BETA_LIMITS } from "../../domain/escrow/beta-limits.ts";
import { isUsdc, listedMint } from "../../domain/supported-mint.ts";
import { Instance } from "../../../ports/instance.ts";
import { BetaLimitExceeded, type FieldFault, type LimitedTerm } from "../request-errors.ts";

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
