import { Effect } from "effect";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { type EscrowCursor, EscrowIndex } from "../../../ports/escrow-index.ts";
import { coverage, type IndexQuery, ledgerTimeSince, pageOf, toFilter } from "./index-query.ts";
import { type EscrowPage, isStillSo, MAX_KEPT_ROWS, RecentPages } from "./recent-pages.ts";

const cursorOfEscrow = ({ createdAt, address }: Escrow): EscrowCursor => ({ createdAt, address });

/**
 * A page of escrows, newest first. `limit` in [1, 500]. The same object is returned again until the store is written
 * to or one of its rows expires. Fails with `InvalidAddress` for a bad filter.
 */
export const queryEscrows = Effect.fn("queryEscrows")(function* (
  query: IndexQuery,
  limit: number,
  after: EscrowCursor | null,
) {
  const index = yield* EscrowIndex;
  const recent = yield* RecentPages;
  // The clock alone changes which escrows are refundable.
  const isKept = limit <= MAX_KEPT_ROWS && query.refundable !== true;
  // Read before the rows: a write in between then invalidates the page.
  const revision = isKept ? yield* index.revision : null;
  const key = `${limit} ${query.state ?? ""} ${JSON.stringify([query.merchant, query.agentOwner])} ${after?.createdAt ?? ""} ${after?.address ?? ""}`;
  const known = revision === null ? undefined : recent.find(revision, key);
  if (known !== undefined && isStillSo(known, yield* ledgerTimeSince(known.checkpoint)))
    return known;
  const checkpoint = revision === null ? undefined : recent.checkpointAt(revision);
  const covered =
    checkpoint === undefined
      ? yield* coverage
      : { checkpoint, ledgerTime: yield* ledgerTimeSince(checkpoint) };
  const filter = yield* toFilter(query, covered.ledgerTime);
  const rows = yield* index.escrows(filter, limit + 1, after);
  const page: EscrowPage = { ...pageOf(rows, limit, cursorOfEscrow), ...covered };
  if (revision !== null) recent.keep(revision, key, page);
  return page;
});
