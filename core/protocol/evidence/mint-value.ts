import { type Escrow, refundedAmount } from "../../domain/escrow/escrow.ts";
import type {
  EvidenceAmounts,
  EvidenceCheck,
  TrustPolicy,
} from "../../domain/evidence/evidence-check.ts";
import { listedMint, type SupportedMint, usdcOf } from "../../domain/supported-mint.ts";

const listedIn = (escrow: Escrow, trust: TrustPolicy | null): SupportedMint | undefined =>
  listedMint(trust?.supportedMints ?? [], escrow.mint);

/**
 * Check `mint_value`: whether the policy lists the mint that was paid in. It never fails, because a payment in a
 * worthless token is still a payment. It is `unproven` for a mint that is not listed.
 */
export const mintValueCheck = (escrow: Escrow, trust: TrustPolicy | null): EvidenceCheck => {
  const listed = listedIn(escrow, trust);
  return listed === undefined
    ? {
        name: "mint_value",
        outcome: "unproven",
        reason: `${trust === null ? "no trust policy was given that lists the mint" : "the trust policy does not list the mint"}: anybody can make one, and its units may be worth nothing`,
      }
    : {
        name: "mint_value",
        outcome: "passed",
        reason: `the trust policy lists the mint as ${listed.symbol}, with ${listed.decimals} decimals`,
      };
};

/** What was paid in an escrow, in base units and by the policy's list of mints. */
export const evidenceAmounts = (escrow: Escrow, trust: TrustPolicy | null): EvidenceAmounts => {
  const listed = listedIn(escrow, trust);
  const refunded = refundedAmount(escrow);
  return {
    mint: escrow.mint,
    mint_supported: listed !== undefined,
    symbol: listed?.symbol ?? null,
    amount_stroops: escrow.amount.toString(),
    released_stroops: escrow.released.toString(),
    refunded_stroops: refunded.toString(),
    amount_usdc: usdcOf(escrow.amount, listed),
    released_usdc: usdcOf(escrow.released, listed),
    refunded_usdc: usdcOf(refunded, listed),
  };
};
