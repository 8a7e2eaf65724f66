import { addressToBytes } from "../../../core/domain/address.ts";
import type { EscrowState } from "../../../core/domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import { indexedEventAt } from "../../../core/log/leaf/indexed-leaves.ts";
import type { EventFilter, EventRange } from "../../../ports/index/index-reader.ts";
import { stateNumber, statesOf, transactionIn } from "../../sql/index-rows.ts";
import { bindings, int8, type Queries, rowsOf } from "../queries.ts";
import {
  escrowOf,
  type EscrowRow,
  mergedRuns,
  partyConditions,
  type Query,
  shown,
} from "./escrow-pages.ts";

type EventRow = EscrowRow & {
  readonly position: bigint;
  readonly pending_hash: Uint8Array;
  readonly settled_hash: Uint8Array | null;
  readonly signature: Uint8Array | null;
  readonly slot: string | null;
};

const eventOf = (row: EventRow): IndexedEvent =>
  indexedEventAt(
    { escrow: escrowOf(row), pendingHash: row.pending_hash, settledHash: row.settled_hash },
    row.position,
    transactionIn(row),
  );

type Run = { readonly kind: "created" | "settled"; readonly condition: string };

/** Ordered runs of events of one kind, one run per escrow state, or one for all. */
const runsOf = (
  kind: Run["kind"],
  states: ReadonlyArray<EscrowState>,
  isOne: boolean,
): ReadonlyArray<Run> => {
  const conditions = states.map((state) => `state = ${stateNumber(state)} AND `);
  return (isOne ? [""] : conditions).map((condition) => ({
    kind,
    condition: `${condition}${kind}_seq IS NOT NULL`,
  }));
};

/** The runs that hold the events of a filter. A creation led to Pending, whatever state its escrow is in. */
const runsFor = (filter: EventFilter): ReadonlyArray<Run> => {
  const { state, refundableAt } = filter;
  const isNobodys = filter.agentOwner === undefined && filter.merchant === undefined;
  // One escrow's own events need no index for their order.
  const isOne = filter.escrow !== undefined || isNobodys;
  const isRefundable = refundableAt !== undefined;
  const created = state === undefined || state === "Pending";
  const settled = statesOf(filter).filter((one) => one !== "Pending");
  return [
    ...(created ? runsOf("created", statesOf({ refundableAt }), isOne && !isRefundable) : []),
    ...(settled.length > 0 ? runsOf("settled", settled, isOne && state === undefined) : []),
  ];
};

/** The statement for a page of events, null for a filter that nothing can meet. */
export const eventPageQuery = (
  filter: EventFilter,
  limit: number,
  range: EventRange,
): Query | null => {
  const bound = bindings();
  const { bind, values } = bound;
  const conditions = [...partyConditions(filter, bound)];
  if (filter.escrow !== undefined)
    conditions.push(`address = ${bind(addressToBytes(filter.escrow))}`);
  if (filter.refundableAt !== undefined)
    conditions.push(`expires_at <= ${bind(filter.refundableAt)}`);
  if (filter.expiresAfter !== undefined)
    conditions.push(`expires_at > ${bind(filter.expiresAfter)}`);
  const beyond =
    "after" in range
      ? `> ${bind(int8(range.after))}`
      : range.before === null
        ? null
        : `< ${bind(int8(range.before))}`;
  const runs = runsFor(filter).map(({ kind, condition }) => {
    const all = [condition, ...conditions];
    if (beyond !== null) all.push(`${kind}_seq ${beyond}`);
    if (filter.withoutTransaction === true) all.push(`NOT ${kind}_referenced`);
    return `SELECT address, account, pending_hash, settled_hash, ${kind}_seq AS position FROM escrow WHERE ${all.join(" AND ")}`;
  });
  if (runs.length === 0) return null;
  const order = "after" in range ? "position" : "position DESC";
  const page = mergedRuns(runs, order, bind(limit));
  const withTransactions = `SELECT page.*, known.signature, known.slot FROM (${page}) AS page
    LEFT JOIN event_transaction AS known ON known.position = page.position`;
  return { text: shown(withTransactions, order), values };
};

/** A page of events: newest first below a number, or oldest first above one. */
export const eventPage = async (
  sql: Queries,
  ...page: Parameters<typeof eventPageQuery>
): Promise<ReadonlyArray<IndexedEvent>> => {
  const query = eventPageQuery(...page);
  return query === null
    ? []
    : (await rowsOf<EventRow>(sql, query.text, query.values)).map((row) => eventOf(row));
};
