import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import fc from "fast-check";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { escrowLives, finalBatch } from "../../arbitraries/index-history.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";

test("a file from before the tallies counts what it already holds", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tallies-"));
  const path = join(folder, "index.sqlite");
  const layer = escrowIndexSqlite({
    path,
    genesisHash: TEST_GENESIS_HASH,
    deployment: TEST_DEPLOYMENT,
  });
  const samples = fc.sample(escrowLives(40), { numRuns: 20, seed: 7 });
  const [lives = []] = samples.toSorted((a, b) => b.length - a.length);
  const open = EscrowIndex.use((index) => index.apply(finalBatch(lives)));
  await Effect.runPromise(Effect.provide(open, layer));
  const read = (db: Database) => [
    db.query("SELECT * FROM escrow_tally").all(),
    db.query("SELECT * FROM delivery_tally").all(),
  ];
  const before = new Database(path, { safeIntegers: true });
  const counted = read(before);
  expect(counted.map((rows) => rows.length > 2)).toEqual([true, true]);
  before.run(`
    DROP TRIGGER escrow_created; DROP TRIGGER escrow_updated;
    DROP TABLE escrow_tally; DROP TABLE delivery_tally;
    CREATE INDEX escrow_deliveries ON escrow (merchant, delivery_seconds, released)
      WHERE delivery_seconds IS NOT NULL;
    PRAGMA user_version = 2`);
  before.close();
  await Effect.runPromise(Effect.provide(Effect.void, layer));
  const after = new Database(path, { safeIntegers: true });
  expect(read(after)).toEqual(counted);
  after.close();
  rmSync(folder, { recursive: true });
});
