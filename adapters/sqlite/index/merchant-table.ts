import type { Database } from "bun:sqlite";
import type { Address } from "../../../core/domain/address.ts";
import { foldName, nameKey } from "../../../core/domain/merchant/merchant-search.ts";
import { MERCHANT_STATUSES, type Merchant } from "../../../core/domain/merchant/merchant.ts";
import type { MerchantCursor, MerchantFilter } from "../../../ports/index/index-reader.ts";
import type { Observed } from "../../../ports/index/index-writer.ts";
import {
  MERCHANT_COLUMNS,
  type MerchantRow,
  merchantOf,
  merchantValues,
  observedOf,
} from "../../sql/merchant-row.ts";
import { type NamedValues, placeholders, toColumn, type Values } from "../columns.ts";

const COLUMNS = Object.keys(MERCHANT_COLUMNS);

/** Writes a table of merchants, and reads what it writes. */
export const merchantTable = (db: Database, table: string) => {
  const insert = db.query<null, Array<Values[number]>>(
    `INSERT INTO ${table} (${COLUMNS.join(", ")}) VALUES (${placeholders(COLUMNS, 1)})
     ON CONFLICT (address) DO NOTHING`,
  );
  const update = db.query<null, Array<Values[number]>>(
    `UPDATE ${table} SET (${COLUMNS.join(", ")}) = (${placeholders(COLUMNS, 1)}) WHERE address = ?1`,
  );
  const one = db.query<MerchantRow, [string]>(
    `SELECT address, slot, account FROM ${table} WHERE address = ?1`,
  );
  return {
    /** Writes a row as it is; whether it is a new one. */
    put: (observed: Observed<Merchant>): boolean => {
      const values = merchantValues(observed, toColumn);
      if (insert.run(...values).changes > 0) return true;
      update.run(...values);
      return false;
    },
    at: (address: Address): Observed<Merchant> | undefined => {
      const row = one.get(address);
      return row === null ? undefined : observedOf(row);
    },
  };
};

/** Reads pages of the table `merchant`. */
export const merchantPages = (db: Database) => {
  const named = db.query<{ count: bigint }, [string, string]>(
    "SELECT count(*) AS count FROM merchant WHERE name_key = ?1 AND address <> ?2",
  );
  /** How many merchants but the one at this address have the same `nameKey` as a name. */
  const sameNames = (name: string, except: Address): number =>
    Number(named.get(nameKey(name), except)?.count ?? 0n);

  const page = (filter: MerchantFilter, limit: number, after: MerchantCursor | null) => {
    const conditions = ["true"];
    if (after !== null) conditions.push("(registered_at, address) > ($registeredAt, $address)");
    if (filter.status !== undefined) conditions.push("status = $status");
    if (filter.minReputation !== undefined) conditions.push("reputation >= $minReputation");
    if (filter.text !== undefined) {
      conditions.push("(instr(folded_name, $text) OR instr(folded_addresses, $addressText))");
    }
    const text = filter.text === undefined ? undefined : foldName(filter.text);
    return db
      .query<MerchantRow, NamedValues>(
        `SELECT address, account FROM merchant WHERE ${conditions.join(" AND ")} ORDER BY registered_at, address LIMIT $limit`,
      )
      .all({
        limit,
        ...(after !== null && { registeredAt: after.registeredAt, address: after.address }),
        ...(filter.status !== undefined && { status: MERCHANT_STATUSES.indexOf(filter.status) }),
        ...(filter.minReputation !== undefined && { minReputation: filter.minReputation }),
        // Null matches nothing: a text with a space could otherwise match across two addresses.
        ...(text !== undefined && { text, addressText: text.includes(" ") ? null : text }),
      })
      .map(merchantOf)
      .map((merchant) => ({ merchant, sameName: sameNames(merchant.name, merchant.address) }));
  };

  return { page, sameNames };
};
