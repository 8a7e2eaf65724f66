import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { INDEX_KIND } from "../../../adapters/sqlite/index/index-schema.ts";
import { answersOf, foundIn, GOLDEN, inFolder, STORE_FILES, textOf } from "./golden-store.ts";
import { withStore } from "./test-store.ts";

const versions = INDEX_KIND.migrations.map((_, at) => at + 1);

test("every schema version has a store here", () => {
  const kept = readdirSync(GOLDEN).filter((file) => file.startsWith("sqlite-index-"));
  expect(kept.sort()).toEqual(versions.map((version) => `sqlite-index-${version}.gz`).sort());
});

test.each(versions)(
  "a store of schema version %d answers as it did when it was written",
  (version) =>
    inFolder(async (folder) => {
      for (const [name, file] of Object.entries(STORE_FILES))
        writeFileSync(
          join(folder, file),
          Bun.gunzipSync(readFileSync(join(GOLDEN, `sqlite-${name}-${version}.gz`))),
        );
      const [answers, { found, paged }] = await Effect.runPromise(
        withStore(join(folder, STORE_FILES.index), (index) =>
          Effect.all([answersOf(index), foundIn(index)]),
        ),
      );
      expect(found).toEqual(paged);
      expect(found.unseen).toHaveLength(3);
      const expected = readFileSync(join(GOLDEN, `sqlite-answers-${version}.json`), "utf8");
      expect(JSON.parse(textOf(answers))).toEqual(JSON.parse(expected));
    }),
);
