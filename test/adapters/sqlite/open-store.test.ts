import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { openStore } from "../../../adapters/sqlite/open-store.ts";
import { tmpdir } from "../../temporary-root.ts";

const V1 = "CREATE TABLE fruit (name TEXT NOT NULL) STRICT";
const V2 = "ALTER TABLE fruit ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'";
const kind = (...migrations: ReadonlyArray<string>) => ({ applicationId: 77, migrations });

test("an older file is brought forward step by step and keeps its rows; a failed step leaves it as it was", async () => {
  const folder = mkdtempSync(join(tmpdir(), "open-store-"));
  const path = join(folder, "fruit.sqlite");
  const rows = (...migrations: ReadonlyArray<string>) =>
    Effect.runPromiseExit(
      Effect.scoped(
        Effect.map(openStore(path, kind(...migrations)), (db) => {
          db.run("INSERT INTO fruit (name) VALUES ('pear')");
          return db.query("SELECT * FROM fruit").all();
        }),
      ),
    );
  expect(await rows(V1)).toMatchObject({ value: [{ name: "pear" }] });
  expect((await rows(V1, `${V2}; DROP TABLE nowhere`))._tag).toBe("Failure");
  expect(await rows(V1)).toMatchObject({ value: [{ name: "pear" }, { name: "pear" }] });
  expect(await rows(V1, V2)).toMatchObject({
    value: Array.from({ length: 3 }, () => ({ name: "pear", colour: "green" })),
  });
  expect((await rows(V1))._tag).toBe("Failure");
  rmSync(folder, { recursive: true });
});
