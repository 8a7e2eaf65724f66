import { Effect } from "effect";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { coverage, type IndexQuery, pageOf, toFilter } from "./index-query.ts";
import type { Page } from "./recent-pages.ts";

/**
 * A page of settlement events below `before`, newest first. `limit` in [1, 500]. Fails with `InvalidAddress` for a bad filter.
 */
export const queryEvents = Effect.fn("queryEvents")(function* (
  query: IndexQuery,
  limit: number,
  before: bigint | null,
) {
  const index = yield* IndexReader;
  const covered = yield* coverage;
  const filter = yield* toFilter(query, covered.ledgerTime);
  const rows = yield* index.events(filter, limit + 1, { before });
  const page: Page<IndexedEvent, bigint> = {
    ...pageOf(rows, limit, (row) => row.position),
    ...covered,
  };
  return page;
});
