import { Database, type SQLQueryBindings } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { escrowPages } from "../../../adapters/sqlite/index/escrow-pages.ts";
import { eventPages } from "../../../adapters/sqlite/index/event-pages.ts";
import { merchantPages } from "../../../adapters/sqlite/index/merchant-table.ts";
import { tallyReader } from "../../../adapters/sqlite/index/merchant-tally.ts";
import { unseenTable } from "../../../adapters/sqlite/index/ledger-row.ts";
import { logLeaves } from "../../../adapters/sqlite/log/log-leaves.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { EscrowFilter } from "../../../ports/index/index-reader.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import { tmpdir } from "../../temporary-root.ts";
import { numberedBatch, numberedMark, numberedRows } from "./numbered-batch.ts";
import { withStore } from "./test-store.ts";

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

/** Every statement that reads the store at a path. */
const readsOf = (db: Recording): ReadonlyArray<string> => {
  const escrows = escrowPages(db);
  const events = eventPages(db, escrows.bodyAt);
  const merchants = merchantPages(db);
  for (const filter of filters) {
    escrows.page(filter, 50, 9n);
    for (const withoutTransaction of [undefined, true] as const) {
      events.page({ ...filter, withoutTransaction }, 50, { before: 9n }).next();
      events.page({ ...filter, withoutTransaction }, 50, { after: 0n }).next();
    }
  }
  events.page({ escrow: someone }, 50, { after: 0n }).next();
  escrows.at([someone]);
  escrows.ofHash(hash32FromBytes(new Uint8Array(32).fill(9)), 20);
  merchants.page({}, 50, { registeredAt: 5n, address: someone });
  merchants.sameNames("someone", someone);
  tallyReader(db)(someone);
  unseenTable(db, "unseen_escrow").page(50, 0n);
  logLeaves(db)(1n, 50);
  return [...db.statements].filter((sql) => sql.startsWith("SELECT"));
};

const applied = ({ writer }: Index) => writer.apply(numberedBatch(1));
const built = ({ writer }: Index) =>
  Effect.scoped(
    Effect.gen(function* () {
      const build = yield* writer.build;
      yield* build.add({ escrows: numberedRows(1), unseen: [], merchants: [] });
      yield* build.finish(numberedMark(1));
    }),
  );

describe.each([
  ["applied", applied],
  ["built", built],
] as const)("of rows that were %s", (_, write) => {
  test("no page or statistic reads a table from end to end, or sorts what it read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "query-plans-"));
    const path = join(folder, "index.sqlite");
    await Effect.runPromise(withStore(path, write));
    const db = new Recording(path, { strict: true, safeIntegers: true });
    const reads = readsOf(db);
    expect(reads.length).toBeGreaterThan(50);
    for (const sql of reads) {
      const plan = db
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail);
      expect(plan.join("\n"), sql).not.toMatch(
        /SCAN (escrow|unseen_escrow|event_transaction|merchant)\b|TEMP B-TREE/,
      );
    }
    // The registry's figures come from what is counted as escrows are written.
    const figures = reads.filter((sql) => sql.includes("tally"));
    expect(figures).toHaveLength(3);
    expect(figures.join()).not.toMatch(/FROM escrow\b/);
    db.close();
    rmSync(folder, { recursive: true });
  });
});
