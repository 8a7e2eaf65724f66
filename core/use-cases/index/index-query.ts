import { Effect } from "effect";
import { type Address, parseAddress } from "../../domain/address.ts";
import type { EscrowState } from "../../domain/escrow/escrow.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import {
  type EscrowFilter,
  IndexReader,
  type IndexSummary,
} from "../../../ports/index/index-reader.ts";
import { IndexClock } from "./index-clock.ts";
import { addressFault, type FieldFault, InvalidAddress } from "../request-errors.ts";

/** The bounds and the default of `limit` on every list. */
export const PAGE_LIMIT = { min: 1, max: 500, default: 50 } as const;

/** The filters of the index's lists. Addresses are not parsed yet; undefined means any. */
export type IndexQuery = {
  readonly merchant?: string | undefined;
  readonly agentOwner?: string | undefined;
  readonly state?: EscrowState | undefined;
  /** Only Pending escrows that have expired. */
  readonly refundable?: true | undefined;
};

type AddressFilter = "merchant" | "agentOwner";

/** The state a list is read at: the index's mark, its unseen escrows, and the ledger's clock. */
export const coverageOf = ({ mark, unseen }: IndexSummary) =>
  Effect.map(
    IndexClock.use((clock) => clock.at(mark)),
    (ledgerTime) => ({ mark, unseen, ledgerTime }),
  );

/** The state of the index now, as `coverageOf` gives it. */
export const coverage = Effect.flatMap(
  IndexReader.use(({ summary }) => summary),
  coverageOf,
);

/** The store's filter of a query. `refundable` means expired at `ledgerTime`. Fails with `InvalidAddress`. */
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
