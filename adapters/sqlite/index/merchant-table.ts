import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import {
  foldName,
  nameKey,
  searchableAddresses,
} from "../../../core/domain/merchant/merchant-search.ts";
import { MERCHANT_STATUSES, type Merchant } from "../../../core/domain/merchant/merchant.ts";
import type { MerchantCursor, MerchantFilter } from "../../../ports/index/index-reader.ts";
import type { Observed } from "../../../ports/index/index-writer.ts";
import { fromColumn, type NamedValues, placeholders, toColumn, type Values } from "../columns.ts";

/** The columns of a row, in the order `valuesOf` binds them. */
const COLUMNS = [
  "address",
  "slot",
  "bump",
  "wallet",
  "name",
  "status",
  "attestor",
  "previous_attestor",
  "attestor_since",
  "registered_at",
  "updated_at",
  "reputation",
  "slashes",
  "deliveries",
  "partial_deliveries",
  "volume",
  "revoked_seq",
  "name_key",
  "folded_name",
  "folded_addresses",
];

type Row = {
  readonly address: Address;
  readonly slot: bigint;
  readonly bump: bigint;
  readonly wallet: Uint8Array;
  readonly name: string;
  readonly status: bigint;
  readonly attestor: Uint8Array;
  readonly previous_attestor: Uint8Array | null;
  readonly attestor_since: bigint;
  readonly registered_at: bigint;
  readonly updated_at: bigint;
  readonly reputation: bigint;
  readonly slashes: bigint;
  readonly deliveries: bigint;
  readonly partial_deliveries: bigint;
  readonly volume: bigint;
  readonly revoked_seq: bigint;
};

const valuesOf = ({ row, slot }: Observed<Merchant>): Values => [
  row.address,
  toColumn(slot),
  row.bump,
  addressToBytes(row.wallet),
  row.name,
  MERCHANT_STATUSES.indexOf(row.status),
  addressToBytes(row.attestor),
  row.previousAttestor && addressToBytes(row.previousAttestor),
  row.attestorSince,
  row.registeredAt,
  row.updatedAt,
  row.reputation,
  row.slashes,
  toColumn(row.deliveries),
  toColumn(row.partialDeliveries),
  toColumn(row.volume),
  toColumn(row.revokedSeq),
  nameKey(row.name),
  foldName(row.name),
  searchableAddresses(row).join(" "),
];

const merchantOf = (row: Row): Merchant => {
  const status = MERCHANT_STATUSES[Number(row.status)];
  if (status === undefined) throw new Error("no merchant of another status is ever written");
  return {
    address: row.address,
    bump: Number(row.bump),
    wallet: addressFromBytes(row.wallet),
    name: row.name,
    status,
    attestor: addressFromBytes(row.attestor),
    previousAttestor: row.previous_attestor && addressFromBytes(row.previous_attestor),
    attestorSince: row.attestor_since,
    registeredAt: row.registered_at,
    updatedAt: row.updated_at,
    reputation: Number(row.reputation),
    slashes: Number(row.slashes),
    deliveries: fromColumn(row.deliveries),
    partialDeliveries: fromColumn(row.partial_deliveries),
    volume: fromColumn(row.volume),
    revokedSeq: fromColumn(row.revoked_seq),
  };
};

/** Writes a table of merchants, and reads what it writes. */
export const merchantTable = (db: Database, table: string) => {
  const insert = db.query<null, Array<Values[number]>>(
    `INSERT INTO ${table} (${COLUMNS.join(", ")}) VALUES (${placeholders(COLUMNS, 1)})
     ON CONFLICT (address) DO NOTHING`,
  );
  const update = db.query<null, Array<Values[number]>>(
    `UPDATE ${table} SET (${COLUMNS.join(", ")}) = (${placeholders(COLUMNS, 1)}) WHERE address = ?1`,
  );
  const one = db.query<Row, [string]>(`SELECT * FROM ${table} WHERE address = ?1`);
  return {
    /** Writes a row as it is; whether it is a new one. */
    put: (observed: Observed<Merchant>): boolean => {
      const values = valuesOf(observed);
      if (insert.run(...values).changes > 0) return true;
      update.run(...values);
      return false;
    },
    at: (address: Address): Observed<Merchant> | undefined => {
      const row = one.get(address);
      return row === null ? undefined : { row: merchantOf(row), slot: fromColumn(row.slot) };
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
      .query<Row, NamedValues>(
        `SELECT * FROM merchant WHERE ${conditions.join(" AND ")} ORDER BY registered_at, address LIMIT $limit`,
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
