import { type Address, parseAddress } from "../core/domain/address.ts";
import type { TrustPolicy } from "../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../core/protocol/evidence/trust-policy.ts";
import { SettlementError } from "./settlement-error.ts";

/** The address in a text that is given as `what`. @throws SettlementError `invalid_<what>` for another text, and for anything else that JSON holds. */
export const addressNamed = (text: unknown, what: string): Address => {
  const found = typeof text === "string" ? parseAddress(text) : undefined;
  if (found !== undefined) return found;
  throw new SettlementError(
    `invalid_${what}`,
    `${what} is no address: ${typeof text === "string" ? text : JSON.stringify(text)}.`,
    "Give 32 bytes as base58.",
  );
};

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
