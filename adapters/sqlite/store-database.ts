import { Database, type SQLQueryBindings, type Statement } from "bun:sqlite";

type Prepared<Row, Params extends SQLQueryBindings | Array<SQLQueryBindings>> = ReturnType<
  typeof Database.prototype.query<Row, Params>
>;

/**
 * A database that prepares each statement once and finalizes all of them when it is closed: SQLite
 * keeps the file and its write-ahead log open as long as one is left, and Bun's own cache forgets
 * all but twenty.
 */
export class StoreDatabase extends Database {
  readonly #statements = new Map<string, Statement>();

  override query<Row, Params extends SQLQueryBindings | Array<SQLQueryBindings>>(
    sql: string,
  ): Prepared<Row, Params> {
    const statement = this.#statements.get(sql) ?? this.prepare(sql);
    this.#statements.set(sql, statement);
    return statement as Prepared<Row, Params>;
  }

  override close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    super.close();
  }
}
