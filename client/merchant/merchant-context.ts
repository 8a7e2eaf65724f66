import { type Address, parseAddress } from "../../core/domain/address.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";

/** What every operation of a merchant needs. */
export type MerchantContext = {
  readonly requests: Requests;
  readonly policy: TrustPolicy;
  /** The most that a transaction may pay for priority, lamports; 1,000,000 when undefined. */
  readonly mostPriorityFee: bigint | undefined;
};

/** The address in a text. @throws SettlementError `invalid_<what>` for another text. */
export const addressNamed = (text: string, what: string): Address => {
  const found = parseAddress(text);
  if (found !== undefined) return found;
  throw new SettlementError(
    `invalid_${what}`,
    `${what} is no address: ${text}.`,
    "Give 32 bytes as base58.",
  );
};
