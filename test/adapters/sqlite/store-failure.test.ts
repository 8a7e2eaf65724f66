import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { tryStore } from "../../../adapters/sqlite/store-failure.ts";
import { tmpdir } from "../../temporary-root.ts";

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
