import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Requests } from "../service/requests.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that a transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee: bigint | undefined;
};
