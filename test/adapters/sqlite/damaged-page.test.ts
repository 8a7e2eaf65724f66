import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";
import { tmpdir } from "../../temporary-root.ts";
import { storeAt, TEST_LEDGER } from "./test-store.ts";

const folder = mkdtempSync(join(tmpdir(), "damaged-page-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Overwrites the page where a table of a closed store begins. */
const damageTable = (path: string, table: string): void => {
  const db = new Database(path, { readonly: true });
  const page = db.query<{ page_size: number }, []>("PRAGMA page_size").get();
  const root = db
    .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_schema WHERE name = ?1")
    .get(table);
  db.close();
  if (page === null || root === null) throw new Error(`${path} has no table ${table}`);
  const end = root.rootpage * page.page_size;
  writeFileSync(path, readFileSync(path).fill(0xa5, end - page.page_size, end));
};

test.each([
  ["index", (path: string) => Effect.provide(Effect.void, storeAt(path))],
  [
    "relay",
    (path: string) => Effect.provide(Effect.void, outcomeLogSqlite({ ...TEST_LEDGER, path })),
  ],
] as const)(
  "the %s, damaged where its ledger is noted, is refused by its name",
  async (name, open) => {
    const path = join(folder, `${name}.sqlite`);
    await Effect.runPromise(open(path));
    damageTable(path, "ledger");
    expect(await Effect.runPromise(Effect.flip(open(path)))).toMatchObject({
      _tag: "StoreCorrupt",
      store: path,
    });
  },
);
