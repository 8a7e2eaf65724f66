import type { Database } from "bun:sqlite";
import { type Escrow, isRefundable } from "../../../core/domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { indexedEventAt } from "../../../core/log/leaf/indexed-leaves.ts";
import type { EventFilter, EventRange } from "../../../ports/index/index-reader.ts";
import { transactionIn } from "../../sql/index-rows.ts";
import { LAST_SEQ, type NamedValues } from "../columns.ts";
import { decodeBody, digestsIn } from "../../sql/escrow-body.ts";
import type { escrowPages } from "./escrow-pages.ts";
import { eventRuns, pageOfRuns, runValues } from "./escrow-runs.ts";

type Transaction = { readonly signature: Uint8Array; readonly slot: bigint };
type Row = {
  readonly seq: bigint;
  readonly body: Uint8Array;
  readonly signature: Uint8Array | null;
  readonly slot: bigint | null;
};

/** Numbers that one step searches for events without a transaction. */
const LOOKED_THROUGH = 5000n;

const matches = (
  filter: EventFilter,
  { event, signature }: IndexedEvent,
  escrow: Escrow,
): boolean =>
  (filter.merchant === undefined || filter.merchant === event.merchant) &&
  (filter.agentOwner === undefined || filter.agentOwner === event.agentOwner) &&
  (filter.state === undefined || filter.state === event.state) &&
  (filter.refundableAt === undefined || isRefundable(escrow, filter.refundableAt)) &&
  (filter.expiresAfter === undefined || escrow.expiresAt > filter.expiresAfter) &&
  (filter.withoutTransaction !== true || signature === null);

/** Reads events from the tables `escrow` and `event_transaction`. */
export const eventPages = (db: Database, bodyAt: ReturnType<typeof escrowPages>["bodyAt"]) => {
  const transaction = db.query<Transaction, [bigint]>(
    "SELECT signature, slot FROM event_transaction WHERE position = ?1",
  );
  const transactionsBetween = db.query<{ known: bigint }, [bigint, bigint]>(
    "SELECT count(*) AS known FROM event_transaction WHERE position > ?1 AND position < ?2",
  );
  const newest = db.query<{ seq: bigint | null }, []>(
    `SELECT max(coalesce((SELECT max(created_seq) FROM escrow), 0),
       coalesce((SELECT max(settled_seq) FROM escrow WHERE state = 1 AND settled_seq > 0), 0),
       coalesce((SELECT max(settled_seq) FROM escrow WHERE state = 2 AND settled_seq > 0), 0),
       coalesce((SELECT max(settled_seq) FROM escrow WHERE state = 3 AND settled_seq > 0), 0)) AS seq`,
  );

  const between = (
    filter: EventFilter,
    limit: number,
    order: "ASC" | "DESC",
    bounds: { readonly after: bigint; readonly before: bigint },
  ): ReadonlyArray<IndexedEvent> => {
    const runs = eventRuns(filter);
    if (runs.length === 0 || limit === 0) return [];
    const unknown = filter.withoutTransaction === true ? ["position IS NULL"] : [];
    const sql = pageOfRuns(
      runs,
      ({ seq }) => `${seq} AS seq, body, signature, slot`,
      order,
      ({ seq }) => `LEFT JOIN event_transaction ON position = ${seq}`,
      unknown,
    );
    return db
      .query<Row, NamedValues>(sql)
      .all({ limit, ...bounds, ...runValues(filter) })
      .map((row) =>
        indexedEventAt(
          { escrow: decodeBody(row.body), ...digestsIn(row.body) },
          row.seq,
          transactionIn(row),
        ),
      );
  };

  /** The events without a transaction. They may be few among many, so the search yields between its steps. */
  function* withoutTransaction(
    filter: EventFilter,
    limit: number,
    range: EventRange,
  ): Generator<void, ReadonlyArray<IndexedEvent>> {
    const events: Array<IndexedEvent> = [];
    const last = newest.get()?.seq ?? 0n;
    const isUpward = "after" in range;
    const end = isUpward || range.before === null || range.before > last ? last + 1n : range.before;
    const start = isUpward ? range.after : 0n;
    const order = isUpward ? "ASC" : "DESC";
    for (let done = 0n; start + done + 1n < end && events.length < limit; done += LOOKED_THROUGH) {
      const bounds = isUpward
        ? { after: start + done, before: start + done + LOOKED_THROUGH + 1n }
        : { after: end - done - LOOKED_THROUGH - 1n, before: end - done };
      if (transactionsBetween.get(bounds.after, bounds.before)?.known !== LOOKED_THROUGH)
        events.push(...between(filter, limit - events.length, order, bounds));
      yield;
    }
    return events;
  }

  const ofEscrow = (filter: EventFilter, limit: number, range: EventRange) => {
    const body = filter.escrow === undefined ? undefined : bodyAt(filter.escrow);
    if (body === undefined) return [];
    const escrow = decodeBody(body);
    const { createdSeq, settledSeq } = escrow;
    const oldestFirst = (settledSeq === null ? [createdSeq] : [createdSeq, settledSeq])
      .filter((seq) =>
        "after" in range ? seq > range.after : range.before === null || seq < range.before,
      )
      .map((seq) => {
        const row = transaction.get(seq);
        return indexedEventAt(
          { escrow, ...digestsIn(body) },
          seq,
          row === null ? undefined : transactionIn(row),
        );
      })
      .filter((event) => matches(filter, event, escrow));
    return ("after" in range ? oldestFirst : oldestFirst.toReversed()).slice(0, limit);
  };

  return {
    /** See `IndexReader.events`. */
    *page(
      filter: EventFilter,
      limit: number,
      range: EventRange,
    ): Generator<void, ReadonlyArray<IndexedEvent>> {
      if (filter.escrow !== undefined) return ofEscrow(filter, limit, range);
      if (filter.withoutTransaction === true)
        return yield* withoutTransaction(filter, limit, range);
      return "after" in range
        ? between(filter, limit, "ASC", { after: range.after, before: LAST_SEQ })
        : between(filter, limit, "DESC", { after: -1n, before: range.before ?? LAST_SEQ });
    },
  };
};
