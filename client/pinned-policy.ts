import type { TrustPolicy } from "../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../core/protocol/evidence/trust-policy.ts";
import { SettlementError } from "./settlement-error.ts";

/** The policy of a trust document, given as its text or as the object that JSON makes of it. @throws SettlementError `invalid_trust` */
export const policyIn = (trust: string | object): TrustPolicy => {
  const parsed = parseTrustPolicy(typeof trust === "string" ? trust : JSON.stringify(trust));
  if ("value" in parsed) return parsed.value;
  throw new SettlementError(
    "invalid_trust",
    `The trust document cannot be used: ${parsed.fault}.`,
    "Fetch /.well-known/evidence-trust.json of the service, check it, and keep it.",
  );
};
