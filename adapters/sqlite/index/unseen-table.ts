import type { Database } from "bun:sqlite";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { UNSEEN_COLUMNS, unseenOf, type UnseenRow, unseenValues } from "../../sql/index-rows.ts";

/** Finds unseen escrows by their addresses. */
export const unseenByAddress = (db: Database) => {
  const one = db.query<UnseenRow, [Uint8Array, Uint8Array]>(
    `SELECT ${UNSEEN_COLUMNS} FROM unseen_escrow WHERE substr(address, 1, 6) = ?1 AND address = ?2`,
  );
  /** The unseen escrow at an address, undefined when there is none. */
  return (address: Address): UnseenEscrow | undefined => {
    const bytes = addressToBytes(address);
    const row = one.get(bytes.slice(0, 6), bytes);
    return row === null ? undefined : unseenOf(row);
  };
};

/** Reads and writes a table of unseen escrows. */
export const unseenTable = (db: Database, table: string) => {
  const insert = db.query<null, Array<number | bigint | Uint8Array | null>>(
    `INSERT INTO ${table} (${UNSEEN_COLUMNS})
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
  );
  const remove = db.query<null, [bigint]>(`DELETE FROM ${table} WHERE created_seq = ?1`);
  const page = db.query<UnseenRow, [bigint, number]>(
    `SELECT ${UNSEEN_COLUMNS} FROM ${table}
     WHERE created_seq > ?1 ORDER BY created_seq LIMIT ?2`,
  );
  return {
    insert: (row: UnseenEscrow): void => {
      insert.run(...unseenValues(row));
    },
    /** Whether there was one to remove. */
    remove: (createdSeq: bigint): boolean => remove.run(createdSeq).changes > 0,
    page: (limit: number, after: bigint): ReadonlyArray<UnseenEscrow> =>
      page.all(after, limit).map(unseenOf),
  };
};
