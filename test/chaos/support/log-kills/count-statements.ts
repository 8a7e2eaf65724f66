import { StoreDatabase } from "../../../../adapters/sqlite/store-database.ts";
import { operation } from "./kill-switch.ts";

type Callable = (...values: Array<unknown>) => unknown;

/** Makes each statement that this process's stores run an operation, for good. */
export const countStoreStatements = (): void => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the store as `this`
  const { query, run } = StoreDatabase.prototype;
  const counted = new WeakSet<object>();
  StoreDatabase.prototype.query = function counting(this: StoreDatabase, sql: string) {
    const prepared = query.call(this, sql);
    const statement = prepared as object as Record<string, Callable>;
    if (counted.has(statement)) return prepared;
    counted.add(statement);
    for (const name of ["run", "get", "all"]) {
      const call = statement[name]?.bind(statement);
      if (call !== undefined) statement[name] = (...values) => operation(() => call(...values));
    }
    return prepared;
  } as typeof query;
  StoreDatabase.prototype.run = function running(this: StoreDatabase, ...asked: Array<unknown>) {
    return operation(() => Reflect.apply(run, this, asked));
  } as typeof run;
};
