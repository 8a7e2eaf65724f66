import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { amountOf, freshPath, LONG_MS } from "./support/chaos-run.ts";
import { expectWholeBatches } from "./support/expect-whole-batches.ts";
import { killSyncs } from "./support/kills/kill-syncs.ts";
import type { Moment } from "./support/kills/killed-process.ts";

/** A copy of the files of a store that a killed process left. Opening the copy leaves the original unchanged. */
const copyOf = (path: string): string => {
  const copy = freshPath("copy.sqlite");
  mkdirSync(dirname(copy), { recursive: true });
  for (const part of ["", "-wal", "-journal"])
    if (existsSync(path + part)) copyFileSync(path + part, copy + part);
  return copy;
};

/** Checks that SQLite opens the killed store and that a reader finds no part of a batch. */
const expectWhole = async (path: string, moment: Moment, when: string): Promise<void> => {
  if (!existsSync(path)) return;
  const copy = copyOf(path);
  using db = new Database(copy);
  expect(db.query("PRAGMA integrity_check").all(), when).toEqual([{ integrity_check: "ok" }]);
  if (moment !== "in a batch") return;
  const index = await openIndexOfNode({ url: "http://127.0.0.1:9", path: copyOf(path) });
  await expectWholeBatches(index, when);
  await index.close();
};

test(
  "killed at any moment of a sync, the index ends as if it had not been killed",
  () =>
    killSyncs({
      script: `${import.meta.dir}/support/kills/sync-until-killed.ts`,
      kills: amountOf({ quick: 6, long: 500 }),
      mostKillsASync: amountOf({ quick: 5, long: 16 }),
      atOnce: 2,
      newStore: () => freshPath("killed.sqlite"),
      dumpOf: (path) => dumpOfIndex(path),
      expectWhole,
    }),
  LONG_MS,
);
