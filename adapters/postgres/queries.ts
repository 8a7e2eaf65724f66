import type { SQL } from "bun";

/** A value as Bun's client takes it: u64 and i64 as bigint, BYTEA as bytes. */
export type Value = string | number | bigint | Uint8Array | boolean | null;
/** What one row binds, in column order. */
export type Values = ReadonlyArray<Value>;

/** The client, or one transaction of it. */
export type Queries = Pick<SQL, "unsafe" | "array">;

/** A column's name and type; NUMERIC holds a u64, exact, and comes back as text. */
export type Column = {
  readonly name: string;
  readonly type: "TEXT" | "NUMERIC" | "INT2" | "INT8" | "BYTEA";
};

/** Columns from pairs of name and type. */
export const columnsOf = (types: Readonly<Record<string, Column["type"]>>): ReadonlyArray<Column> =>
  Object.entries(types).map(([name, type]) => ({ name, type }));

const MOST = 2n ** 63n - 1n;

/** A u64 as INT8, at most 2^63-1. Event numbers never exceed that, so comparisons stay right. */
export const int8 = (value: bigint): bigint => (value > MOST ? MOST : value);

/** The rows of a statement. `text` is written here in the program; what comes from outside is bound. */
export const rowsOf = async <Row>(
  sql: Queries,
  text: string,
  values: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<Row>> =>
  Array.from(await sql.unsafe<ReadonlyArray<Row>>(text, [...values]));

/** The names of columns, for a list in SQL. */
export const namesOf = (columns: ReadonlyArray<Column>, prefix = ""): string =>
  columns.map(({ name }) => prefix + name).join(", ");

/** SQL for a table named `input`. Each column is an array parameter, from `$1` on. */
export const inputOf = (columns: ReadonlyArray<Column>): string => {
  const arrays = columns.map(({ type }, at) => `$${at + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")}) AS input (${namesOf(columns)})`;
};

/** The array parameters of `inputOf` for these rows. */
export const arraysOf = (
  sql: Queries,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<Values>,
): ReadonlyArray<unknown> =>
  columns.map(({ type }, at) =>
    sql.array(
      rows.map((row) => row[at] ?? null),
      type,
    ),
  );

/** Rows in one statement. Binding them blocks the process for 20 to 40 ms. */
const ROWS_A_STATEMENT = 1000;

/** Splits rows, in order, into portions for one statement each. A snapshot's batch is many times as large. */
export const portionsOf = <Row>(rows: ReadonlyArray<Row>): ReadonlyArray<ReadonlyArray<Row>> =>
  Array.from({ length: Math.ceil(rows.length / ROWS_A_STATEMENT) }, (_, at) =>
    rows.slice(at * ROWS_A_STATEMENT, (at + 1) * ROWS_A_STATEMENT),
  );

/** Collects what a statement binds and gives each value its place: `$1`, `$2`, ... */
export const bindings = () => {
  const values: Array<Value> = [];
  return { values, bind: (value: Value): string => `$${values.push(value)}` };
};
