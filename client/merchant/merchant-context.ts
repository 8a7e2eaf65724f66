import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Requests } from "../service/requests.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that a transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee: bigint | undefined;
  /**
   * Whether an agent must have a token account already; false when left out. Where it need not, the payer opens a missing one. An
   * agent can then close it after each payment and keep its rent.
   */
  readonly needsAgentAccount?: boolean;
};
