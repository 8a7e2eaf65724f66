import { unseenValues } from "../../../sql/index-rows.ts";
import type { SpooledRow } from "../../../sql/row-spool.ts";
import { ESCROW_COLUMNS, escrowValues } from "../escrow-pages.ts";
import { UNSEEN_COLUMNS } from "../put-escrows.ts";
import { type Column, namesOf, type Queries, type Value, type Values } from "../../queries.ts";

// PostgreSQL manual, COPY, "Binary Format": big-endian; a row is the count of its fields (i16) and then each field as
// its length (i32, -1 for null) and its bytes.
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const TRAILER = Buffer.from([0xff, 0xff]);

/** Bytes that one row needs at most here: the columns of an escrow fill under 600. */
const scratch = Buffer.alloc(4096);

/** A u64 has at most five groups of four decimal digits. */
const GROUP = 10_000n;

const LARGEST_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Writes a NUMERIC and returns its end: i16 each of group count, weight of the first group, sign, scale, and the
 * groups.
 */
const writeNumeric = (value: bigint, at: number): number => {
  const groups: Array<number> = [];
  let large = value;
  for (; large > LARGEST_SAFE; large /= GROUP) groups.unshift(Number(large % GROUP));
  // Nearly all amounts are small, and numbers are divided in a fraction of the time.
  const base = Number(GROUP);
  for (let rest = Number(large); rest > 0; rest = Math.floor(rest / base))
    groups.unshift(rest % base);
  let end = scratch.writeInt16BE(groups.length, at);
  end = scratch.writeInt16BE(Math.max(0, groups.length - 1), end);
  end = scratch.writeInt32BE(0, end);
  for (const group of groups) end = scratch.writeInt16BE(group, end);
  return end;
};

const writeField = (type: Column["type"], value: Exclude<Value, null>, at: number): number => {
  switch (type) {
    case "INT2":
      return scratch.writeInt16BE(Number(value), at);
    case "INT8":
      return scratch.writeBigInt64BE(value as bigint, at);
    case "NUMERIC":
      return writeNumeric(value as bigint, at);
    case "BYTEA":
      scratch.set(value as Uint8Array, at);
      return at + (value as Uint8Array).length;
    case "TEXT":
      return at + scratch.write(String(value), at, "utf8");
  }
};

/** A row as COPY takes it. It is valid until the next call. @throws RangeError for a row of more than 4 KiB. */
const copyRow = (columns: ReadonlyArray<Column>, values: Values): Uint8Array => {
  let end = scratch.writeInt16BE(columns.length, 0);
  let at = 0;
  for (const { type } of columns) {
    const value = values[at++] ?? null;
    if (value === null) {
      end = scratch.writeInt32BE(-1, end);
      continue;
    }
    const start = end + 4;
    const next = writeField(type, value, start);
    scratch.writeInt32BE(next - start, end);
    end = next;
  }
  return scratch.subarray(0, end);
};

/** Bytes of rows that one COPY takes. A server needs a small part of a second for them. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Rows that wait for a COPY into a table. */
class CopyChunk {
  readonly #bytes = Buffer.allocUnsafe(CHUNK_BYTES + scratch.length);
  #used = 0;
  rows = 0;

  readonly table: "escrow" | "unseen_escrow";
  readonly #columns: ReadonlyArray<Column>;

  constructor(table: "escrow" | "unseen_escrow", columns: ReadonlyArray<Column>) {
    this.table = table;
    this.#columns = columns;
  }

  get isFull(): boolean {
    return this.#used >= CHUNK_BYTES;
  }

  append(values: Values): void {
    if (this.#used === 0) this.#used = HEADER.copy(this.#bytes);
    const row = copyRow(this.#columns, values);
    this.#bytes.set(row, this.#used);
    this.#used += row.length;
    this.rows += 1;
  }

  /** Appends the rows to their table, in this order, and empties the chunk. */
  async copy(sql: Queries): Promise<void> {
    const bytes = this.#bytes.subarray(0, this.#used + TRAILER.copy(this.#bytes, this.#used));
    const names = namesOf(this.#columns);
    const statement = sql.unsafe(`COPY ${this.table} (${names}) FROM STDIN (FORMAT binary)`);
    const writer = statement.writable().getWriter();
    await writer.write(bytes);
    await writer.close();
    await statement;
    this.#used = 0;
    this.rows = 0;
  }
}

/** Rows for a COPY, in chunks of one table. The next chunk begins where one is copied. */
export function* copyChunks(rows: Iterable<SpooledRow>): Generator<CopyChunk, void> {
  const [unseen, escrows] = [
    new CopyChunk("unseen_escrow", UNSEEN_COLUMNS),
    new CopyChunk("escrow", ESCROW_COLUMNS),
  ];
  for (const row of rows) {
    const chunk = row.kind === "unseen" ? unseen : escrows;
    chunk.append(row.kind === "unseen" ? unseenValues(row.row) : escrowValues(row.body));
    if (chunk.isFull) yield chunk;
  }
  for (const chunk of [unseen, escrows]) if (chunk.rows > 0) yield chunk;
}
