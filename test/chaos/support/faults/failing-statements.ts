import { SQLiteError } from "bun:sqlite";
import { StoreDatabase } from "../../../../adapters/sqlite/store-database.ts";

const CALLS = ["run", "get", "all"] as const;

/** bun:sqlite's error for a failing disk. */
const ioError = (): Error =>
  Object.assign(Object.create(SQLiteError.prototype) as Error, {
    name: "SQLiteError",
    message: "disk I/O error",
    code: "SQLITE_IOERR",
  });

/**
 * Counts every statement that stores of this process run, and fails the `failAt`th, until it is disposed of. Counts
 * from 1; 0 lets all pass. Does not see databases that were opened before.
 */
export const countStatements = (): { failAt: number; count: number } & Disposable => {
  // oxlint-disable-next-line typescript/unbound-method -- put back, and called with the store as `this`
  const original = StoreDatabase.prototype.query;
  const counted = new WeakSet<object>();
  const state = {
    failAt: 0,
    count: 0,
    [Symbol.dispose]: () => void (StoreDatabase.prototype.query = original),
  };
  StoreDatabase.prototype.query = function query(this: StoreDatabase, sql: string) {
    const prepared = original.call(this, sql);
    const statement = prepared as object as Record<string, unknown>;
    if (counted.has(statement)) return prepared;
    counted.add(statement);
    for (const name of CALLS) {
      const call = (statement[name] as (...values: Array<unknown>) => unknown).bind(statement);
      statement[name] = (...values: Array<unknown>): unknown => {
        state.count += 1;
        if (state.count === state.failAt) throw ioError();
        return call(...values);
      };
    }
    return prepared;
  } as typeof original;
  return state;
};
