import { type Address, parseAddress } from "../core/domain/address.ts";
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
