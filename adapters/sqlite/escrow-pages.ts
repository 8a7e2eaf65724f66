import type { Database } from "bun:sqlite";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { EscrowFilter, EscrowCursor } from "../../ports/escrow-index.ts";
import type { AddressBook } from "./address-book.ts";
import { addressPrefix } from "./address-prefix.ts";
import type { NamedValues } from "./columns.ts";
import { filterValues, partyConditions, stateNumber, statesOf } from "./escrow-filter.ts";
import { type EscrowRow, escrowOf } from "./escrow-row.ts";

const BEHIND = "(created_at, address_prefix, address) < ($createdAt, $prefix, $address)";

/** Reads the table `escrow`, by pages and by address. */
export const escrowPages = (db: Database, book: AddressBook) => {
  const count = db.query<{ count: bigint | null }, []>("SELECT max(number) AS count FROM escrow");

  const one = db.query<EscrowRow, [number, string]>(
    "SELECT * FROM escrow WHERE address_prefix = ?1 AND address = ?2",
  );

  /** The stored ones of these escrows. */
  const at = (addresses: ReadonlyArray<Address>): ReadonlyArray<Escrow> =>
    addresses.flatMap((address) => {
      const row = one.get(addressPrefix(address), address);
      return row === null ? [] : [escrowOf(book, row)];
    });

  /** Each state is a run of an index, in the order of pages already; the runs are merged. */
  const page = (
    filter: EscrowFilter,
    limit: number,
    after: EscrowCursor | null,
  ): ReadonlyArray<Escrow> => {
    const values = filterValues(book, filter);
    if (values === undefined) return [];
    const conditions = [...partyConditions(filter)];
    if (after !== null) conditions.push(BEHIND);
    if (filter.refundableAt !== undefined) conditions.push("expires_at <= $refundableAt");
    const runs = statesOf(filter).map((state) =>
      [`SELECT * FROM escrow WHERE state = ${stateNumber(state)}`, ...conditions].join(" AND "),
    );
    if (runs.length === 0) return [];
    return db
      .query<EscrowRow, NamedValues>(
        `${runs.join(" UNION ALL ")} ORDER BY created_at DESC, address_prefix DESC, address DESC LIMIT $limit`,
      )
      .all({
        limit,
        ...values,
        ...(after !== null && {
          createdAt: after.createdAt,
          prefix: addressPrefix(after.address),
          address: after.address,
        }),
      })
      .map((row) => escrowOf(book, row));
  };

  return {
    count: (): number => Number(count.get()?.count ?? 0n),
    page,
    at,
  };
};
