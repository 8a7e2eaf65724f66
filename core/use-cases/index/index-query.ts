import { Context, Effect } from "effect";
import {
  type EscrowFilter,
  type EventFilter,
  IndexReader,
  type IndexSummary,
} from "../../../ports/index/index-reader.ts";
import { type Address, parseAddress } from "../../domain/address.ts";
import type { EscrowState } from "../../domain/escrow/escrow.ts";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import type { SyncMark } from "../../domain/index/sync-report.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import { leavesOfEscrow, type NumberedLeaf } from "../../log/leaf/escrow-leaves.ts";
import { leavesOfUnseen } from "../../log/leaf/indexed-leaves.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { addressFault, type FieldFault, InvalidAddress } from "../request-errors.ts";
import { monotonicMs } from "../single-flight.ts";
import {
  type EscrowPage,
  isStillSo,
  MAX_KEPT_ROWS,
  type Page,
  RecentPages,
} from "./recent-pages.ts";

/**
 * The ledger's clock as readers of the index go by it: the mark's time plus the monotonic time since this process first
 * saw that mark. The machine's wall clock can be wrong or be set, and decides nothing.
 */
export class IndexClock extends Context.Service<
  IndexClock,
  {
    /** The ledger's clock now, at least the mark's; null before the first sync. */
    readonly at: (mark: SyncMark | null) => Effect.Effect<UnixSeconds | null>;
  }
>()("settlement-evidence/core/use-cases/IndexClock") {}

/** The process's one `IndexClock`. */
export const makeIndexClock = Effect.sync(() => {
  let seen: {
    readonly slot: bigint;
    readonly ledgerTime: UnixSeconds;
    readonly atMs: number;
  } | null = null;
  return IndexClock.of({
    at: (mark) =>
      Effect.map(monotonicMs, (nowMs) => {
        if (mark === null) return null;
        const { slot, ledgerTime } = mark;
        if (seen === null || seen.slot !== slot || seen.ledgerTime !== ledgerTime)
          seen = { slot, ledgerTime, atMs: nowMs };
        return ledgerTime + BigInt(Math.floor(Math.max(0, nowMs - seen.atMs) / 1000));
      }),
  });
});

/** The bounds and the default of `limit` on every list. */
export const PAGE_LIMIT = { min: 1, max: 500, default: 50 } as const;

/** The filters of the index's lists. Addresses are not parsed yet; undefined means any. */
export type IndexQuery = {
  readonly merchant?: string | undefined;
  readonly agentOwner?: string | undefined;
  readonly state?: EscrowState | undefined;
  /** Only Pending escrows that have expired. */
  readonly refundable?: true | undefined;
  /** Only Pending escrows that expire within this many seconds, and have not yet. */
  readonly expiringWithin?: number | undefined;
};

/** The filters of events: those of escrows, and one escrow. */
export type EventQuery = IndexQuery & { readonly escrow?: string | undefined };

type AddressFilter = "merchant" | "agentOwner";

/** The state a list is read at: the index's mark, its unseen escrows, and the ledger's clock. */
const coverageOf = ({ mark, unseen }: IndexSummary) =>
  Effect.map(
    IndexClock.use((clock) => clock.at(mark)),
    (ledgerTime) => ({ mark, unseen, ledgerTime }),
  );

/** The state of the index now, as `coverageOf` gives it. */
export const coverage = Effect.flatMap(
  IndexReader.use(({ summary }) => summary),
  coverageOf,
);

/** Parses the addresses of filters, and keeps the faults of all of them. */
const addressParser = <Field extends string>() => {
  const faults: Array<FieldFault<Field>> = [];
  const parse = (field: Field, text: string | undefined): Address | undefined => {
    const parsed = text === undefined ? undefined : parseAddress(text);
    if (text !== undefined && parsed === undefined) faults.push(addressFault(field));
    return parsed;
  };
  return { faults, parse };
};

/** What a query says of the end of escrows, at a time of the ledger. */
const endsOf = ({ refundable, expiringWithin }: IndexQuery, ledgerTime: UnixSeconds | null) => {
  const now = ledgerTime ?? 0n;
  if (expiringWithin === undefined) return { refundableAt: refundable === true ? now : undefined };
  const until = refundable === true ? now : now + BigInt(expiringWithin);
  return { refundableAt: until, expiresAfter: now };
};

/** The store's filter of a query. `refundable` means expired at `ledgerTime`. Fails with `InvalidAddress`. */
export const toFilter = Effect.fnUntraced(function* (
  query: IndexQuery,
  ledgerTime: UnixSeconds | null,
) {
  const { faults, parse } = addressParser<AddressFilter>();
  const filter: EscrowFilter = {
    merchant: parse("merchant", query.merchant),
    agentOwner: parse("agentOwner", query.agentOwner),
    state: query.state,
    ...endsOf(query, ledgerTime),
  };
  return faults.length > 0 ? yield* new InvalidAddress(faults) : filter;
});

/** As `toFilter`, for events. */
export const toEventFilter = Effect.fnUntraced(function* (
  query: EventQuery,
  ledgerTime: UnixSeconds | null,
) {
  const { faults, parse } = addressParser<"escrow">();
  const escrow = parse("escrow", query.escrow);
  if (faults.length > 0) return yield* new InvalidAddress(faults);
  const filter: EventFilter = { ...(yield* toFilter(query, ledgerTime)), escrow };
  return filter;
});

/** A page of at most `limit` rows out of up to `limit + 1`, with the cursor of the next page. */
export const pageOf = <Row, Cursor>(
  rows: ReadonlyArray<Row>,
  limit: number,
  cursorOf: (row: Row) => Cursor,
): { readonly rows: ReadonlyArray<Row>; readonly next: Cursor | null } => {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
};

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
  const isKept =
    limit <= MAX_KEPT_ROWS && query.refundable !== true && query.expiringWithin === undefined;
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

/**
 * A page of settlement events below `before`, newest first. `limit` in [1, 500]. Fails with `InvalidAddress` for a bad
 * filter.
 */
export const queryEvents = Effect.fn("queryEvents")(function* (
  query: EventQuery,
  limit: number,
  before: bigint | null,
) {
  const index = yield* IndexReader;
  const covered = yield* coverage;
  const filter = yield* toEventFilter(query, covered.ledgerTime);
  const rows = yield* index.events(filter, limit + 1, { before });
  const page: Page<IndexedEvent, bigint> = {
    ...pageOf(rows, limit, (row) => row.position),
    ...covered,
  };
  return page;
});

/** The event of a number from 1; null for one that the index does not hold or whose escrow it has not seen. */
export const eventAt = Effect.fnUntraced(function* (position: bigint) {
  const index = yield* IndexReader;
  const [event] = yield* index.events({}, 1, { after: position - 1n });
  return event?.position === position ? event : null;
});

/**
 * The leaves of the events of at most 1000 escrows, in any order, that the index has proved by the ledger's root. Fails
 * like the store.
 */
export const provedLeaves = Effect.fnUntraced(function* (addresses: ReadonlyArray<Address>) {
  const index = yield* IndexReader;
  const held = yield* index.escrowsAt(addresses);
  const leaves: ReadonlyArray<NumberedLeaf> = [
    ...held.escrows.flatMap((row) => leavesOfEscrow(row, encodeEscrowAccount(row))),
    ...held.unseen.flatMap(leavesOfUnseen),
  ];
  return leaves;
});
