import type { SQLQueryBindings } from "bun:sqlite";

/** What one row binds, in column order. */
export type Values = ReadonlyArray<SQLQueryBindings>;

/** What a query binds by name. */
export type NamedValues = Record<string, string | number | bigint | Uint8Array | null>;

/**
 * A u64 as SQLite's signed 64-bit INTEGER with the same bits: exact up to 2^64-1, in at most eight
 * bytes. Values from 2^63 on are negative in the file, so amounts are never ordered or summed by SQL.
 */
export const toColumn = (u64: bigint): bigint => BigInt.asIntN(64, u64);

/** Above every number of an event that a column holds. */
export const LAST_SEQ = 2n ** 63n - 1n;

/** `?1, ?2, ...` for columns from the `first`, counted from 1. */
export const placeholders = (columns: ReadonlyArray<string>, first: number): string =>
  columns.map((_, index) => `?${index + first}`).join(", ");
