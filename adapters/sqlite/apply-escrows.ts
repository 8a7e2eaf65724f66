import { isDeepStrictEqual } from "node:util";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow, EscrowState } from "../../core/domain/escrow/escrow.ts";
import { provesEvent, type SettlementEvent } from "../../core/domain/index/settlement-event.ts";
import type { RowChanges, Observed } from "../../ports/escrow-index.ts";
import type { AddressBook } from "./address-book.ts";
import type { EscrowTable, EventPositions } from "./escrow-table.ts";
import type { EventTable } from "./event-table.ts";
import type { Counted, merchantTally } from "./merchant-tally.ts";
import type { Change } from "./sighting-upsert.ts";

/** Rows per turn of the event loop, a few milliseconds of work. */
const AT_ONCE = 250;

/** An escrow that a batch has to do with, as it will stand. */
type Standing = {
  readonly number: number;
  state: EscrowState;
  slot: bigint;
  merchant: number;
  events: EventPositions;
  /** The sighting of an escrow that has no row yet. */
  fresh: Observed<Escrow> | null;
  /** Whether its row must be told where its events stand. */
  moved: boolean;
};

const countedOf = ({ state, settledAt, createdAt, attestation }: Escrow): Counted => ({
  state,
  deliverySeconds: attestation === null || settledAt === null ? null : settledAt - createdAt,
});
/** A row that can still change is Pending. */
const PENDING: Counted = { state: "Pending", deliverySeconds: null };

/**
 * Applies a batch's escrows and their events, in steps of a few milliseconds, inside one transaction. Rows that
 * the batch creates are written last: then it is known where their events stand.
 */
export function* applyEscrows(
  tables: {
    readonly book: AddressBook;
    readonly escrows: EscrowTable;
    readonly events: EventTable;
    readonly tally: ReturnType<typeof merchantTally>;
  },
  batch: {
    readonly escrows: ReadonlyArray<Observed<Escrow>>;
    readonly events: ReadonlyArray<SettlementEvent>;
  },
): Generator<void, { readonly escrows: RowChanges; readonly eventsAdded: number }> {
  const { book, escrows, events } = tables;
  const standings = new Map<Address, Standing>();
  const tally = tables.tally.summing();
  let last = escrows.last();
  let worked = 0;
  const isTurn = (): boolean => (worked += 1) % AT_ONCE === 0;

  const standingOf = (address: Address): Standing | undefined => {
    const known = standings.get(address);
    if (known !== undefined) return known;
    const stored = escrows.find(address);
    if (stored === undefined) return undefined;
    const standing = { ...stored, fresh: null, moved: false };
    standings.set(address, standing);
    return standing;
  };

  const put = (sighted: Observed<Escrow>): Change => {
    const { row, slot } = sighted;
    const standing = standingOf(row.address);
    if (standing === undefined) {
      standings.set(row.address, {
        number: (last += 1),
        state: row.state,
        slot,
        merchant: book.numberOf(row.merchant),
        events: { created: null, settled: null },
        fresh: sighted,
        moved: false,
      });
      return "created";
    }
    if (standing.state !== "Pending" || slot < standing.slot) return "unchanged";
    if (standing.fresh !== null) {
      if (isDeepStrictEqual(standing.fresh.row, row)) return "unchanged";
      standing.fresh = sighted;
    } else {
      if (!escrows.update(standing.number, sighted)) return "unchanged";
      tally.count(standing.merchant, PENDING, -1);
      tally.count(book.numberOf(row.merchant), countedOf(row), 1);
    }
    standing.state = row.state;
    standing.slot = slot;
    standing.merchant = book.numberOf(row.merchant);
    return "updated";
  };

  const changes = { created: 0, updated: 0, unchanged: 0 };
  for (const sighted of batch.escrows) {
    changes[put(sighted)] += 1;
    if (isTurn()) yield;
  }

  const append = events.appending();
  let eventsAdded = 0;
  for (const event of batch.events) {
    const standing = standingOf(event.escrow);
    if (standing === undefined || !provesEvent(standing.state, event)) continue;
    const place = event.kind === "escrow_created" ? "created" : "settled";
    if (standing.events[place] !== null) continue;
    standing.events = { ...standing.events, [place]: append(standing.number, event) };
    standing.moved = true;
    eventsAdded += 1;
    if (isTurn()) yield;
  }

  for (const { number, fresh, moved, events: positions } of standings.values()) {
    if (fresh !== null) {
      escrows.insert(number, fresh, positions);
      tally.count(book.numberOf(fresh.row.merchant), countedOf(fresh.row), 1);
    } else if (moved) escrows.noteEvents(number, positions);
    if (isTurn()) yield;
  }
  tally.write();
  return { escrows: changes, eventsAdded };
}
