import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";

/** Why a facilitator's kind is not of a policy's programs; undefined when it is. */
export const facilitatorObjection = (
  { custodyProgram }: TrustPolicy,
  extra: Readonly<Record<string, unknown>> | undefined,
): string | undefined => {
  const custody = extra?.["custody"];
  return custody === custodyProgram
    ? undefined
    : `The facilitator's custody program is ${String(custody)}, the trust document's is ${custodyProgram}. Use the facilitator of the service that the trust document is of.`;
};
