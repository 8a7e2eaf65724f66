import { Clock, Effect } from "effect";
import { type Address, parseAddress } from "../../domain/address.ts";
import type { Escrow, EscrowState } from "../../domain/escrow/escrow.ts";
import type { MerchantStatus } from "../../domain/merchant/merchant.ts";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import {
  type EscrowFilter,
  EscrowIndex,
  type EscrowCursor,
  type RegistryEntry,
  type SyncCheckpoint,
} from "../../../ports/escrow-index.ts";
import {
  type EscrowPage,
  isStillSo,
  MAX_KEPT_ROWS,
  type Page,
  RecentPages,
} from "./recent-pages.ts";
import { addressFault, type FieldFault, InvalidAddress } from "../request-errors.ts";

/** The bounds and the default of `limit` on every list. */
export const PAGE_LIMIT = { min: 1, max: 500, default: 50 } as const;

/** The filters of the index's lists; addresses not yet parsed, undefined meaning any. */
export type IndexQuery = {
  readonly merchant?: string | undefined;
  readonly agentOwner?: string | undefined;
  readonly state?: EscrowState | undefined;
  /** Only Pending escrows that have expired. */
  readonly refundable?: true | undefined;
};

type AddressFilter = "merchant" | "agentOwner";

/** The ledger's clock as it must stand by now, null before the first sync. */
const ledgerTimeSince = (checkpoint: SyncCheckpoint | null) =>
  Effect.map(Clock.currentTimeMillis, (nowMs): UnixSeconds | null => {
    if (checkpoint === null) return null;
    const elapsedMs = Math.max(0, nowMs - checkpoint.atMs);
    return checkpoint.ledgerTime + BigInt(Math.floor(elapsedMs / 1000));
  });

/** What a list covers: the last sync, and the ledger's clock. */
const coverage = Effect.gen(function* () {
  const index = yield* EscrowIndex;
  const { checkpoint } = yield* index.summary;
  return { checkpoint, ledgerTime: yield* ledgerTimeSince(checkpoint) };
});

/** The filter of a query; `refundable` goes by `ledgerTime`. Fails with `InvalidAddress`. */
export const toFilter = Effect.fnUntraced(function* (
  query: IndexQuery,
  ledgerTime: UnixSeconds | null,
) {
  const faults: Array<FieldFault<AddressFilter>> = [];
  const parse = (field: AddressFilter): Address | undefined => {
    const text = query[field];
    const parsed = text === undefined ? undefined : parseAddress(text);
    if (text !== undefined && parsed === undefined) faults.push(addressFault(field));
    return parsed;
  };
  const filter: EscrowFilter = {
    merchant: parse("merchant"),
    agentOwner: parse("agentOwner"),
    state: query.state,
    refundableAt: query.refundable === true ? (ledgerTime ?? 0n) : undefined,
  };
  return faults.length > 0 ? yield* new InvalidAddress(faults) : filter;
});

const pageOf = <Row, Cursor>(
  rows: ReadonlyArray<Row>,
  limit: number,
  cursorOf: (row: Row) => Cursor,
): { readonly rows: ReadonlyArray<Row>; readonly next: Cursor | null } => {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? cursorOf(last) : null };
};

const cursorOfEscrow = ({ createdAt, address }: Escrow): EscrowCursor => ({ createdAt, address });

/**
 * A page of escrows, newest first, and the same object as long as the store has not been written to and the clock
 * has made none of its rows refundable. `limit` in [1, 500]. Fails with `InvalidAddress` for a bad filter.
 */
export const queryEscrows = Effect.fn("queryEscrows")(function* (
  query: IndexQuery,
  limit: number,
  after: EscrowCursor | null,
) {
  const index = yield* EscrowIndex;
  const recent = yield* RecentPages;
  // Which escrows are refundable changes with the clock alone.
  const isKept = limit <= MAX_KEPT_ROWS && query.refundable !== true;
  // Asked before the rows: what is written meanwhile then makes the page be read once more.
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

/**
 * A page of settlement events, newest first; none before the store's first sync is complete, since positions are
 * not for good until then. `limit` in [1, 500]. Fails with `InvalidAddress` for a bad filter.
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

/** The filters of the merchant registry. */
export type RegistryQuery = {
  readonly status?: MerchantStatus | undefined;
  readonly text?: string | undefined;
  readonly minReputation?: number | undefined;
};

/** A page of registered merchants with their statistics, by merchant address. `limit` in [1, 500]. */
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
