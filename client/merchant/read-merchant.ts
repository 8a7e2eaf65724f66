import type { Address } from "../../core/domain/address.ts";
import type { Merchant } from "../generated/contract.ts";
import { dataOf, problemOf } from "../service/requests.ts";
import type { MerchantContext } from "./merchant-context.ts";

/** A merchant as the service reads it from the ledger, null for a wallet that is not registered. @throws SettlementError */
export const readMerchant = async (
  { requests }: MerchantContext,
  wallet: Address,
  signal?: AbortSignal,
): Promise<Merchant | null> => {
  const answer = await requests.answer(`/v1/merchants/${wallet}`, { signal });
  if (answer.status === 404) return null;
  if (answer.status !== 200) throw problemOf(answer);
  return dataOf(answer) as Merchant;
};
