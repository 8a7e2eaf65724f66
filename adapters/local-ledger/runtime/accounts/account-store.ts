import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes, addressToBytes } from "../../../../core/domain/address.ts";

/** Everything the ledger holds at one address. */
export type AccountState = {
  /** u64 */
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly executable: boolean;
  /** u64; 2^64-1 for accounts made by transactions (Agave `rent_collector.rs`: RENT_EXEMPT_RENT_EPOCH). */
  readonly rentEpoch: bigint;
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** Whether two states are equal; undefined means no account. */
export const sameAccountState = (
  a: AccountState | undefined,
  b: AccountState | undefined,
): boolean => {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.lamports === b.lamports &&
    a.owner === b.owner &&
    a.executable === b.executable &&
    sameBytes(a.data, b.data)
  );
};

/** Conditions on account data. All of them must hold. */
export type DataConditions = {
  /** Exact length in bytes. */
  readonly dataSize?: number | undefined;
  readonly bytesAt: ReadonlyArray<{ readonly offset: number; readonly bytes: Uint8Array }>;
};

/**
 * Whether account data meets all conditions. A condition whose offset is beyond the data's end fails, even for no
 * bytes.
 */
export const meetsConditions = (data: Uint8Array, conditions: DataConditions): boolean =>
  (conditions.dataSize === undefined || data.length === conditions.dataSize) &&
  conditions.bytesAt.every(
    ({ offset, bytes }) =>
      offset <= data.length &&
      Buffer.compare(data.subarray(offset, offset + bytes.length), bytes) === 0,
  );

type Row = {
  readonly address: Uint8Array;
  readonly owner: Uint8Array;
  readonly lamports: bigint;
  readonly data: Uint8Array;
  readonly executable: bigint;
  readonly rent_epoch: bigint;
};

const u64 = (stored: bigint): bigint => BigInt.asUintN(64, stored);

const stateOf = (row: Row): Omit<AccountState, "owner"> => ({
  lamports: u64(row.lamports),
  data: row.data,
  executable: row.executable !== 0n,
  rentEpoch: u64(row.rent_epoch),
});

/** The accounts that the genesis or any transaction has touched, in the ledger's database. */
export const accountStore = (database: Database) => {
  const upsert = database.query<null, [Uint8Array, Uint8Array, bigint, Uint8Array, number, bigint]>(
    `insert into account (address, owner, lamports, data, executable, rent_epoch)
     values (?1, ?2, ?3, ?4, ?5, ?6)
     on conflict (address) do update
     set owner = ?2, lamports = ?3, data = ?4, executable = ?5, rent_epoch = ?6`,
  );
  const remove = database.query<null, [Uint8Array]>("delete from account where address = ?1");
  const contains = database.query<{ one: bigint }, [Uint8Array]>(
    "select 1 as one from account where address = ?1",
  );

  return {
    write: (address: Address, state: AccountState | undefined): void => {
      if (state === undefined) remove.run(addressToBytes(address));
      else
        upsert.run(
          addressToBytes(address),
          addressToBytes(state.owner),
          BigInt.asIntN(64, state.lamports),
          state.data,
          state.executable ? 1 : 0,
          BigInt.asIntN(64, state.rentEpoch),
        );
    },

    has: (address: Address): boolean => contains.get(addressToBytes(address)) !== null,

    /** Every account as raw bytes. Executable ones come last, because a program needs its code account first. */
    *all(): Generator<Row & { readonly state: Omit<AccountState, "owner"> }> {
      for (const row of database
        .query<Row, []>("select * from account order by executable")
        .iterate())
        yield { ...row, state: stateOf(row) };
    },

    /** The accounts of one owner that meet the conditions. SQLite filters them before any data is copied. */
    *ofOwner(owner: Address, conditions: DataConditions): Generator<[Address, AccountState]> {
      const where = ["owner = ?1"];
      const parameters: Array<Uint8Array> = [addressToBytes(owner)];
      if (conditions.dataSize !== undefined) where.push(`length(data) = ${conditions.dataSize}`);
      for (const { offset, bytes } of conditions.bytesAt)
        where.push(
          bytes.length === 0
            ? `length(data) >= ${offset}`
            : `substr(data, ${offset + 1}, ${bytes.length}) = ?${parameters.push(bytes)}`,
        );
      // Literal offsets let SQLite use the index on token holders. Prepared for each call, so that no cache grows.
      const statement = database.prepare<Row, Array<Uint8Array>>(
        `select * from account where ${where.join(" and ")}`,
      );
      try {
        for (const row of statement.iterate(...parameters))
          yield [addressFromBytes(row.address), { ...stateOf(row), owner }];
      } finally {
        statement.finalize();
      }
    },
  };
};

/** See `accountStore`. */
export type AccountStore = ReturnType<typeof accountStore>;
