import { afterAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { openStore } from "../../../adapters/sqlite/open-store.ts";
import { tmpdir } from "../../temporary-root.ts";
import { numberedBatch } from "./numbered-batch.ts";
import { storeAt, TEST_LEDGER, withStore } from "./test-store.ts";
import { tryStore } from "../../../adapters/sqlite/store-failure.ts";
import { outcomeLogSqlite } from "../../../adapters/sqlite/relay/outcome-log.ts";

const FRUIT = "CREATE TABLE fruit (name TEXT NOT NULL) STRICT";

test("a schema that fails leaves an empty file, and one that was made keeps its rows", async () => {
  const folder = mkdtempSync(join(tmpdir(), "open-store-"));
  const path = join(folder, "fruit.sqlite");
  const rows = (schema: string) =>
    Effect.runPromiseExit(
      Effect.scoped(
        Effect.map(openStore(path, { applicationId: 77, schema }), (db) => {
          db.run("INSERT INTO fruit (name) VALUES ('pear')");
          return db.query("SELECT * FROM fruit").all();
        }),
      ),
    );
  expect((await rows(`${FRUIT}; DROP TABLE nowhere`))._tag).toBe("Failure");
  expect(await rows(FRUIT)).toMatchObject({ value: [{ name: "pear" }] });
  expect(await rows(FRUIT)).toMatchObject({ value: [{ name: "pear" }, { name: "pear" }] });
  rmSync(folder, { recursive: true });
});

test("what another one writes to the same file changes the revision, and asking does not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "store-revision-"));
  const path = join(folder, "index.sqlite");
  const program = withStore(path, (one) =>
    withStore(path, (other) =>
      Effect.gen(function* () {
        const revision = Effect.map(one.reader.summary, (summary) => summary.revision);
        const first = yield* revision;
        expect(yield* revision).toBe(first);
        yield* other.writer.apply(numberedBatch(1));
        const second = yield* revision;
        expect(second).not.toBe(first);
        expect(yield* revision).toBe(second);
        yield* one.writer.apply(numberedBatch(2));
        expect(yield* revision).not.toBe(second);
      }),
    ),
  );
  await Effect.runPromise(program);
  rmSync(folder, { recursive: true });
});

test("a full disk fails as retryable; reads go on, and writes once there is room again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "store-failure-"));
  const db = new Database(join(folder, "full.sqlite"));
  db.run("CREATE TABLE page (bytes BLOB)");
  db.run("PRAGMA max_page_count = 20");
  const write = tryStore(() => db.run("INSERT INTO page VALUES (zeroblob(200000))"));
  expect(await Effect.runPromise(Effect.flip(write))).toMatchObject({
    _tag: "StoreUnavailable",
    retryable: true,
  });
  expect(await Effect.runPromise(tryStore(() => db.query("SELECT * FROM page").all()))).toEqual([]);
  db.run("PRAGMA max_page_count = 2000");
  expect(await Effect.runPromise(write)).toMatchObject({ changes: 1 });
  db.close();
  rmSync(folder, { recursive: true });
});

test("a mistake in the program is a defect, not a failure of the store", async () => {
  const db = new Database();
  const mistake = await Effect.runPromiseExit(
    tryStore(() => db.run("SELECT nothing FROM nowhere")),
  );
  db.close();
  expect(Exit.hasDies(mistake)).toBe(true);
  expect(Exit.hasFails(mistake)).toBe(false);
});

describe("damaged page", () => {
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
});
