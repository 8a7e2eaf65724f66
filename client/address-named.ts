import { type Address, parseAddress } from "../core/domain/address.ts";
import { SettlementError } from "./settlement-error.ts";

/** The address in a text that is given as `what`. @throws SettlementError `invalid_<what>` for another text. */
export const addressNamed = (text: string, what: string): Address => {
  const found = parseAddress(text);
  if (found !== undefined) return found;
  throw new SettlementError(
    `invalid_${what}`,
    `${what} is no address: ${text}.`,
    "Give 32 bytes as base58.",
  );
};
