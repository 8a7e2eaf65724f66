import type { Address } from "../../core/domain/address.ts";
import type { Merchant } from "../generated/contract.ts";
import { dataOrNull } from "../service/operation.ts";
import type { MerchantContext } from "./merchant-context.ts";

/** A merchant as the service reads it from the ledger, null for a wallet that is not registered. @throws SettlementError */
export const readMerchant = (
  { requests }: MerchantContext,
  wallet: Address,
  signal?: AbortSignal,
): Promise<Merchant | null> =>
  dataOrNull(requests, "GET /v1/merchants/{pubkey}", { pubkey: wallet }, { signal });
