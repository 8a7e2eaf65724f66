import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { policyIn } from "../pinned-policy.ts";
import { requestOf } from "../service/operation.ts";
import { problemOf } from "../service/requests.ts";
import type { ToolContext } from "./tool.ts";

/** The policy that explains a transaction's programs and mints. */
export type KnownDeployment = {
  readonly policy: TrustPolicy;
  /** Whether `policy` comes from the service itself, because the wallet pinned none. */
  readonly isUnpinned: boolean;
};

/**
 * The programs and mints that explain a transaction: the pinned ones, otherwise the service's own. A wallet does not
 * use the service's mints, because false decimals would make any amount look small. @throws SettlementError
 */
export const knownDeployment = async ({
  call,
  trust,
  rebuilds,
}: Pick<ToolContext, "call" | "trust" | "rebuilds">): Promise<KnownDeployment> => {
  if (trust !== null) return { policy: trust, isUnpinned: false };
  const answer = await call(...requestOf("GET /.well-known/evidence-trust.json", {}));
  if (answer.status !== 200) throw problemOf(answer);
  const policy = policyIn(answer.text);
  return rebuilds
    ? { policy: { ...policy, supportedMints: [] }, isUnpinned: true }
    : { policy, isUnpinned: false };
};
