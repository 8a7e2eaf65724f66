import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Requests } from "../service/requests.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that a transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee: bigint | undefined;
  /**
   * True where nobody opens a token account for an agent that has closed its own: whoever pays for one again and again pays its rent to the agent, who closes it. False when left out.
   */
  readonly needsAgentAccount?: boolean;
};
