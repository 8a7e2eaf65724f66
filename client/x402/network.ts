import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { type PaymentPlace, x402Network } from "../../core/protocol/x402/payment-requirements.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { policyIn } from "../pinned-policy.ts";

/**
 * The ledger of a trust document as x402 names it: `solana:` and the first 32 characters of its genesis hash. @throws
 * SettlementError
 * @example
 * import { networkOf } from "settlement-evidence/x402";
 *
 * networkOf(trust); // => "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
 */
export const networkOf = (trust: string | object): `solana:${string}` =>
  x402Network(policyIn(trust).genesisHash);

/** The network and program that requirements must name under a policy. */
export const placeOf = (policy: TrustPolicy): PaymentPlace => ({
  network: x402Network(policy.genesisHash),
  custodyProgram: deploymentIn(policy).custodyProgram,
});
