import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { policyIn } from "../pinned-policy.ts";
import { requestOf } from "../service/operation.ts";
import { problemOf } from "../service/requests.ts";
import type { ToolContext } from "./tool.ts";

/** What a transaction is explained by. */
export type KnownDeployment = {
  readonly policy: TrustPolicy;
  /** Whether `policy` is what a service says of itself, beside a wallet that pinned nothing. */
  readonly isUnpinned: boolean;
};

/**
 * The programs and mints by which a transaction is explained: the pinned ones, else the service's own. Beside a wallet
 * its mints are left out: by another number of decimals a service would make any amount look small. @throws
 * SettlementError
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
