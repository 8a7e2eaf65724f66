import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { stateNumber, stateOf } from "./escrow-row.ts";

type Row = {
  readonly created_seq: bigint;
  readonly settled_seq: bigint | null;
  readonly state: bigint;
  readonly address: Uint8Array;
  readonly pending_hash: Uint8Array;
  readonly settled_hash: Uint8Array | null;
};

const unseenOf = (row: Row): UnseenEscrow => ({
  address: addressFromBytes(row.address),
  state: stateOf(row.state),
  createdSeq: row.created_seq,
  settledSeq: row.settled_seq,
  pendingHash: row.pending_hash,
  settledHash: row.settled_hash,
});

const COLUMNS = "created_seq, settled_seq, state, address, pending_hash, settled_hash";

/** Finds unseen escrows by their addresses. */
export const unseenByAddress = (db: Database) => {
  const one = db.query<Row, [Uint8Array, Uint8Array]>(
    `SELECT ${COLUMNS} FROM unseen_escrow WHERE substr(address, 1, 6) = ?1 AND address = ?2`,
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
    `INSERT INTO ${table} (${COLUMNS})
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
  );
  const remove = db.query<null, [bigint]>(`DELETE FROM ${table} WHERE created_seq = ?1`);
  const page = db.query<Row, [bigint, number]>(
    `SELECT ${COLUMNS} FROM ${table}
     WHERE created_seq > ?1 ORDER BY created_seq LIMIT ?2`,
  );
  return {
    insert: (row: UnseenEscrow): void => {
      const { createdSeq, settledSeq, state, address, pendingHash, settledHash } = row;
      insert.run(
        createdSeq,
        settledSeq,
        stateNumber(state),
        addressToBytes(address),
        pendingHash,
        settledHash,
      );
    },
    /** Whether there was one to remove. */
    remove: (createdSeq: bigint): boolean => remove.run(createdSeq).changes > 0,
    page: (limit: number, after: bigint): ReadonlyArray<UnseenEscrow> =>
      page.all(after, limit).map(unseenOf),
  };
};
