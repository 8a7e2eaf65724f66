import { StoreDatabase } from "../../../../adapters/sqlite/store-database.ts";

/** The SQLite connections that this process's stores have used since the call, so that a test can limit them. */
export const watchStores = (): { readonly opened: ReadonlySet<StoreDatabase> } & Disposable => {
  // oxlint-disable-next-line typescript/unbound-method -- put back, and called with the store as `this`
  const original = StoreDatabase.prototype.query;
  const opened = new Set<StoreDatabase>();
  StoreDatabase.prototype.query = function query(this: StoreDatabase, sql: string) {
    opened.add(this);
    return original.call(this, sql);
  } as typeof original;
  return { opened, [Symbol.dispose]: () => void (StoreDatabase.prototype.query = original) };
};

/** Stops a store from growing, as a full disk would, or lifts that limit. */
export const setFull = (store: StoreDatabase, isFull: boolean): void => {
  const used = store.prepare<{ page_count: bigint }, []>("PRAGMA page_count").get();
  const limit = isFull ? (used?.page_count ?? 1n) : 4_294_967_294n;
  store.run(`PRAGMA max_page_count = ${limit}`);
};
