import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { policyIn } from "../pinned-policy.ts";
import { problemOf } from "../service/requests.ts";
import type { ServiceCall } from "./tool.ts";

/** The programs and mints by which a transaction is explained: the pinned ones, else the service's own. @throws SettlementError */
export const knownDeployment = async (
  call: ServiceCall,
  trust: TrustPolicy | null,
): Promise<TrustPolicy> => {
  if (trust !== null) return trust;
  const answer = await call("/.well-known/evidence-trust.json");
  if (answer.status !== 200) throw problemOf(answer);
  return policyIn(answer.text);
};
