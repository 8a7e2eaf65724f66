import { PAGE_LIMIT } from "../../../core/use-cases/index/index-query.ts";
import type { Page } from "../../../core/use-cases/index/recent-pages.ts";
import type { PageCursor } from "../request/page-cursor.ts";

/** The page size a query asks for. */
export const limitOf = (query: { readonly limit?: number }): number =>
  query.limit ?? PAGE_LIMIT.default;

/** A page of the index as JSON: its rows, the next cursor, the slot up to which the index is complete, and whether it is stale. */
export const pageAnswer = <Row, Cursor, Record>(
  page: Page<Row, Cursor>,
  limit: number,
  cursor: PageCursor<Cursor>,
  record: (row: Row) => Record,
  isStale: boolean,
) => ({
  data: page.rows.map(record),
  page: { limit, next_cursor: page.next === null ? null : cursor.encode(page.next) },
  index: {
    last_synced_slot: page.mark === null ? null : Number(page.mark.slot),
    last_synced_at: page.mark === null ? null : new Date(page.mark.atMs).toISOString(),
    unseen: page.unseen,
    ...(isStale ? { stale: true as const } : {}),
  },
});
