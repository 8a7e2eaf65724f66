import { Effect } from "effect";
import type { Merchant, MerchantStatus } from "../../domain/merchant/merchant.ts";
import {
  IndexReader,
  type MerchantCursor,
  type RegistryEntry,
} from "../../../ports/index/index-reader.ts";
import { coverage, pageOf } from "../index/index-query.ts";
import type { Page } from "../index/recent-pages.ts";

/** The filters of the merchant registry. */
export type RegistryQuery = {
  readonly status?: MerchantStatus | undefined;
  readonly text?: string | undefined;
  readonly minReputation?: number | undefined;
};

const cursorOf = ({ registeredAt, address }: Merchant): MerchantCursor => ({
  registeredAt,
  address,
});

/** A page of registered merchants with their statistics, the earliest registered first. `limit` in [1, 500]. */
export const queryMerchants = Effect.fn("queryMerchants")(function* (
  query: RegistryQuery,
  limit: number,
  after: MerchantCursor | null,
) {
  const index = yield* IndexReader;
  const covered = yield* coverage;
  const rows = yield* index.merchants(query, limit + 1, after);
  const page: Page<RegistryEntry, MerchantCursor> = {
    ...pageOf(rows, limit, ({ merchant }) => cursorOf(merchant)),
    ...covered,
  };
  return page;
});
