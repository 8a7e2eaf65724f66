import { SQL } from "bun";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { STORE_MIGRATIONS } from "../../../adapters/postgres/store-schema.ts";
import { answersOf, foundIn, GOLDEN, textOf } from "../sqlite/golden-store.ts";
import { GOLDEN_SCHEMA, goldenStore } from "./golden-store.ts";
import { withStore } from "./test-database.ts";

const versions = STORE_MIGRATIONS.map((_, at) => at + 1);

test("every schema version has a dump here", () => {
  const kept = readdirSync(GOLDEN).filter((file) => /^postgres-\d/.test(file));
  expect(kept.sort()).toEqual(versions.map((version) => `postgres-${version}.sql.gz`).sort());
});

test.each(versions)(
  "a dump of schema version %d is loaded and answers as the store did that it was made of",
  async (version) => {
    const server = String(process.env["TEST_DATABASE_URL"]);
    const dump = Bun.gunzipSync(readFileSync(join(GOLDEN, `postgres-${version}.sql.gz`)));
    {
      await using sql = new SQL(server, { max: 1 });
      await sql.unsafe(`DROP SCHEMA IF EXISTS ${GOLDEN_SCHEMA} CASCADE`);
      await sql.unsafe(new TextDecoder().decode(dump));
    }
    const [answers, { found, paged }] = await Effect.runPromise(
      withStore(goldenStore(server), (index) => Effect.all([answersOf(index), foundIn(index)])),
    );
    expect(found).toEqual(paged);
    expect(found.unseen).toHaveLength(3);
    const expected = readFileSync(join(GOLDEN, `postgres-answers-${version}.json`), "utf8");
    expect(JSON.parse(textOf(answers))).toEqual(JSON.parse(expected));
  },
);
