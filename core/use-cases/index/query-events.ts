import { Effect } from "effect";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { coverage, type IndexQuery, pageOf, toFilter } from "./index-query.ts";
import type { Page } from "./recent-pages.ts";

/**
 * A page of settlement events, newest first. `limit` in [1, 500]. Empty until the store's first sync is complete:
 * positions can still change before that. Fails with `InvalidAddress` for a bad filter.
 */
export const queryEvents = Effect.fn("queryEvents")(function* (
  query: IndexQuery,
  limit: number,
  before: bigint | null,
) {
  const index = yield* EscrowIndex;
  const covered = yield* coverage;
  const filter = yield* toFilter(query, covered.ledgerTime);
  const rows = covered.checkpoint === null ? [] : yield* index.events(filter, limit + 1, before);
  const page: Page<IndexedEvent, bigint> = {
    ...pageOf(rows, limit, (row) => row.position),
    ...covered,
  };
  return page;
});
