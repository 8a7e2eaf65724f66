import { type Address, parseAddress } from "../core/domain/address.ts";
import type { TrustPolicy } from "../core/domain/evidence/evidence-check.ts";
import { parseTrustPolicy } from "../core/protocol/evidence/trust-policy.ts";
import { SettlementError } from "./settlement-error.ts";

/** Parses the argument `what` as an address. @throws SettlementError `invalid_<what>` for anything but an address */
export const addressNamed = (text: unknown, what: string): Address => {
  const address = typeof text === "string" ? parseAddress(text) : undefined;
  if (address !== undefined) return address;
  throw new SettlementError(
    `invalid_${what}`,
    `${what} is no address: ${typeof text === "string" ? text : JSON.stringify(text)}.`,
    "Give 32 bytes as base58.",
  );
};

/** The policy of a trust document, given as text or as parsed JSON. @throws SettlementError `invalid_trust` */
export const policyIn = (trust: string | object): TrustPolicy => {
  const parsed = parseTrustPolicy(typeof trust === "string" ? trust : JSON.stringify(trust));
  if ("value" in parsed) return parsed.value;
  throw new SettlementError(
    "invalid_trust",
    `The trust document cannot be used: ${parsed.fault}.`,
    "Fetch /.well-known/evidence-trust.json of the service, check it, and keep it.",
  );
};
