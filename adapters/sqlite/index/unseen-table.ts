import type { Database } from "bun:sqlite";
import { addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { stateNumber } from "./escrow-columns.ts";

type Row = {
  readonly created_seq: bigint;
  readonly settled_seq: bigint | null;
  readonly state: bigint;
  readonly address: Uint8Array;
  readonly pending_hash: Uint8Array;
  readonly settled_hash: Uint8Array | null;
};

const unseenOf = (row: Row): UnseenEscrow => {
  const state = ESCROW_STATES[Number(row.state)];
  if (state === undefined) throw new Error("the schema allows no other state");
  return {
    address: addressFromBytes(row.address),
    state,
    createdSeq: row.created_seq,
    settledSeq: row.settled_seq,
    pendingHash: row.pending_hash,
    settledHash: row.settled_hash,
  };
};

/** Reads and writes a table of unseen escrows. */
export const unseenTable = (db: Database, table: string) => {
  const insert = db.query<null, Array<number | bigint | Uint8Array | null>>(
    `INSERT INTO ${table} (created_seq, settled_seq, state, address, pending_hash, settled_hash)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
  );
  const remove = db.query<null, [bigint]>(`DELETE FROM ${table} WHERE created_seq = ?1`);
  const page = db.query<Row, [bigint, number]>(
    `SELECT created_seq, settled_seq, state, address, pending_hash, settled_hash FROM ${table}
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
