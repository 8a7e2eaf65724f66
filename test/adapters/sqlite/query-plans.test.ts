import { Database, type SQLQueryBindings } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { addressBook } from "../../../adapters/sqlite/address-book.ts";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { escrowPages } from "../../../adapters/sqlite/escrow-pages.ts";
import { escrowTable } from "../../../adapters/sqlite/escrow-table.ts";
import { eventPages } from "../../../adapters/sqlite/event-pages.ts";
import { merchantCounts } from "../../../adapters/sqlite/merchant-counts.ts";
import { merchantPages } from "../../../adapters/sqlite/merchant-table.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import type { EscrowFilter } from "../../../ports/escrow-index.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { tmpdir } from "../../temporary-root.ts";

/** A database that remembers the statements it was asked for. */
class Recording extends Database {
  readonly statements = new Set<string>();
  override query<Row, Params extends SQLQueryBindings | Array<SQLQueryBindings>>(sql: string) {
    this.statements.add(sql);
    return super.query<Row, Params>(sql);
  }
}

const someone = addressFromBytes(new Uint8Array(32).fill(9));

const filters: ReadonlyArray<EscrowFilter> = [undefined, someone].flatMap((merchant) =>
  [undefined, someone].flatMap((agentOwner) =>
    [undefined, ...ESCROW_STATES].flatMap((state) =>
      [undefined, 5n].map((refundableAt) => ({ merchant, agentOwner, state, refundableAt })),
    ),
  ),
);

test("no page, count or statistic reads a table from end to end, or sorts all it read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "query-plans-"));
  const path = join(folder, "index.sqlite");
  const ledger = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };
  await Effect.runPromise(Effect.provide(Effect.void, escrowIndexSqlite({ path, ...ledger })));
  const db = new Recording(path, { strict: true, safeIntegers: true });
  const book = addressBook(db);
  book.numberOf(someone);
  const escrows = escrowPages(db, book);
  const merchants = merchantPages(db);
  const events = eventPages(db, book);
  for (const filter of filters) {
    escrows.page(filter, 50, { createdAt: 5n, address: someone });
    events.page(filter, 50, 9n);
    events.after(filter, 50, 9n);
  }
  events.withoutReference(50, 9n).next();
  events.ofEscrow(someone);
  escrowTable(db, book).find(someone);
  escrows.at([someone]);
  merchants.page({}, 50, { registeredAt: 5n, address: someone });
  merchants.sameNames("someone", someone);
  merchantCounts(db, book)(someone);
  for (const table of [escrows, merchants, events]) table.count();

  const reads = [...db.statements].filter((sql) => sql.startsWith("SELECT"));
  expect(reads.length).toBeGreaterThan(50);
  for (const sql of reads) {
    const plan = db
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail);
    // Only rows of the same second and prefix are put in order by their addresses.
    expect(plan.join("\n"), sql).not.toMatch(
      /SCAN (escrow|event|merchant|address_book)|TEMP B-TREE (?!FOR LAST TERM OF ORDER BY)/,
    );
  }
  // The registry's figures come from what is counted as escrows are written.
  const figures = reads.filter((sql) => sql.includes("tally"));
  expect(figures).toHaveLength(3);
  expect(figures.join()).not.toMatch(/FROM escrow\b/);
  db.close();
  rmSync(folder, { recursive: true });
});
