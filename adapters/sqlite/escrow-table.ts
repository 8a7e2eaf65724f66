import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow, EscrowState } from "../../core/domain/escrow/escrow.ts";
import type { Observed } from "../../ports/escrow-index.ts";
import type { AddressBook } from "./address-book.ts";
import { addressPrefix } from "./address-prefix.ts";
import { placeholders, type Values } from "./columns.ts";
import { stateOf } from "./escrow-filter.ts";
import { ESCROW_CONTENT, escrowContent } from "./escrow-row.ts";

/** Positions of an escrow's events, null for those it has not. */
export type EventPositions = {
  readonly created: number | null;
  readonly settled: number | null;
};

/** What a stored row says of its escrow, besides its content. */
export type StoredEscrow = {
  readonly number: number;
  readonly state: EscrowState;
  readonly slot: bigint;
  /** The merchant's number in the address book. */
  readonly merchant: number;
  readonly events: EventPositions;
};

type Row = {
  readonly number: bigint;
  readonly state: bigint;
  readonly slot: bigint;
  readonly merchant: bigint;
  readonly created_event: bigint | null;
  readonly settled_event: bigint | null;
};

const numberOrNull = (value: bigint | null): number | null =>
  value === null ? null : Number(value);

/** Writes the table `escrow`; each row once, since it is looked up in the same transaction. */
export const escrowTable = (db: Database, book: AddressBook) => {
  const find = db.query<Row, [number, string]>(
    `SELECT number, state, slot, merchant, created_event, settled_event FROM escrow
     WHERE address_prefix = ?1 AND address = ?2`,
  );
  const newest = db.query<{ number: bigint | null }, []>(
    "SELECT max(number) AS number FROM escrow",
  );
  const columns = [
    "number",
    "address",
    "address_prefix",
    "slot",
    "created_event",
    "settled_event",
    ...ESCROW_CONTENT,
  ];
  const insert = db.query<null, Array<Values[number]>>(
    `INSERT INTO escrow (${columns.join(", ")}) VALUES (${placeholders(columns, 1)})`,
  );
  const update = db.query<null, Array<Values[number]>>(
    `UPDATE escrow SET (slot, ${ESCROW_CONTENT.join(", ")}) = (?2, ${placeholders(ESCROW_CONTENT, 3)})
     WHERE number = ?1 AND (${ESCROW_CONTENT.join(", ")}) IS NOT (${placeholders(ESCROW_CONTENT, 3)})`,
  );
  const note = db.query<null, [number, number | null, number | null]>(
    "UPDATE escrow SET created_event = ?2, settled_event = ?3 WHERE number = ?1",
  );

  return {
    /** The stored row of an address, undefined when there is none. */
    find: (address: Address): StoredEscrow | undefined => {
      const row = find.get(addressPrefix(address), address);
      if (row === null) return undefined;
      return {
        number: Number(row.number),
        state: stateOf(row.state),
        slot: row.slot,
        merchant: Number(row.merchant),
        events: {
          created: numberOrNull(row.created_event),
          settled: numberOrNull(row.settled_event),
        },
      };
    },
    /** The number of the newest row, which is also how many there are. */
    last: (): number => Number(newest.get()?.number ?? 0n),
    /** Writes a row that there is none of yet. */
    insert: (number: number, { row, slot }: Observed<Escrow>, events: EventPositions): void => {
      insert.run(
        number,
        row.address,
        addressPrefix(row.address),
        slot,
        events.created,
        events.settled,
        ...escrowContent(book, row),
      );
    },
    /** Replaces a row's content; whether it differed. */
    update: (number: number, { row, slot }: Observed<Escrow>): boolean =>
      update.run(number, slot, ...escrowContent(book, row)).changes > 0,
    /** Notes where a row's events stand. */
    noteEvents: (number: number, { created, settled }: EventPositions): void => {
      note.run(number, created, settled);
    },
  };
};

/** See `escrowTable`. */
export type EscrowTable = ReturnType<typeof escrowTable>;
