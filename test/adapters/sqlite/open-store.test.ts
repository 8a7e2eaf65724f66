import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { openStore } from "../../../adapters/sqlite/open-store.ts";
import { tmpdir } from "../../temporary-root.ts";

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
