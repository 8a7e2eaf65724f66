import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { MerchantStatus } from "../../domain/merchant/merchant.ts";
import { EscrowIndex, type RegistryEntry } from "../../../ports/escrow-index.ts";
import { coverage, pageOf } from "../index/index-query.ts";
import type { Page } from "../index/recent-pages.ts";

/** The filters of the merchant registry. */
export type RegistryQuery = {
  readonly status?: MerchantStatus | undefined;
  readonly text?: string | undefined;
  readonly minReputation?: number | undefined;
};

/** A page of registered merchants with their statistics, ordered by merchant address. `limit` in [1, 500]. */
export const queryMerchants = Effect.fn("queryMerchants")(function* (
  query: RegistryQuery,
  limit: number,
  after: Address | null,
) {
  const index = yield* EscrowIndex;
  const covered = yield* coverage;
  const rows = yield* index.merchants(query, limit + 1, after);
  const page: Page<RegistryEntry, Address> = {
    ...pageOf(rows, limit, (row) => row.merchant.address),
    ...covered,
  };
  return page;
});
