import { Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { coverageOf, type IndexQuery, pageOf, toFilter } from "./index-query.ts";
import { type EscrowPage, isStillSo, MAX_KEPT_ROWS, RecentPages } from "./recent-pages.ts";

/**
 * A page of escrows with a `createdSeq` below `before`, newest first. `limit` in [1, 500]. The same object is returned
 * again until the store is written to or one of its rows expires. Fails with `InvalidAddress` for a bad filter.
 */
export const queryEscrows = Effect.fnUntraced(function* (
  query: IndexQuery,
  limit: number,
  before: bigint | null,
) {
  const index = yield* IndexReader;
  const recent = yield* RecentPages;
  // Read before the rows: a write in between then invalidates the page.
  const summary = yield* index.summary;
  // The clock alone changes which escrows are refundable.
  const isKept = limit <= MAX_KEPT_ROWS && query.refundable !== true;
  const revision = isKept ? summary.revision : null;
  const covered = yield* coverageOf(summary);
  const key = `${limit} ${query.state ?? ""} ${JSON.stringify([query.merchant, query.agentOwner])} ${before ?? ""}`;
  const known = revision === null ? undefined : recent.find(revision, key);
  if (known !== undefined && isStillSo(known, covered.ledgerTime)) return known;
  const filter = yield* toFilter(query, covered.ledgerTime);
  const rows = yield* index.escrows(filter, limit + 1, before);
  const page: EscrowPage = { ...pageOf(rows, limit, ({ createdSeq }) => createdSeq), ...covered };
  if (revision !== null) recent.keep(revision, key, page);
  return page;
});
