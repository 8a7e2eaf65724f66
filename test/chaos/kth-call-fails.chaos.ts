import { expect, test } from "bun:test";
import { Exit } from "effect";
import { ChainNode } from "../world/chain-node.ts";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { expectWholeBatches } from "./support/expect-whole-batches.ts";
import { countAnswers } from "../world/port-faults.ts";
import { SQLiteError } from "bun:sqlite";
import { StoreDatabase } from "../../adapters/sqlite/store-database.ts";

const CALLS = ["run", "get", "all"] as const;

/** bun:sqlite's error for a failing disk. */
const ioError = (): Error =>
  Object.assign(Object.create(SQLiteError.prototype) as Error, {
    name: "SQLiteError",
    message: "disk I/O error",
    code: "SQLITE_IOERR",
  });

/**
 * Counts every statement that stores of this process run, and fails the `failAt`th, until it is disposed of. Counts
 * from 1; 0 lets all pass. Does not see databases that were opened before.
 */
const countStatements = (): { failAt: number; count: number } & Disposable => {
  // oxlint-disable-next-line typescript/unbound-method -- put back, and called with the store as `this`
  const original = StoreDatabase.prototype.query;
  const counted = new WeakSet<object>();
  const state = {
    failAt: 0,
    count: 0,
    [Symbol.dispose]: () => void (StoreDatabase.prototype.query = original),
  };
  StoreDatabase.prototype.query = function query(this: StoreDatabase, sql: string) {
    const prepared = original.call(this, sql);
    const statement = prepared as object as Record<string, unknown>;
    if (counted.has(statement)) return prepared;
    counted.add(statement);
    for (const name of CALLS) {
      const call = (statement[name] as (...values: Array<unknown>) => unknown).bind(statement);
      statement[name] = (...values: Array<unknown>): unknown => {
        state.count += 1;
        if (state.count === state.failAt) throw ioError();
        return call(...values);
      };
    }
    return prepared;
  } as typeof original;
  return state;
};

const ESCROWS = 12;
/** The quick run fails every ninth statement of a sync. */
const STATEMENT_STRIDE = amountOf({ quick: 9, long: 1 });

/** One sync of a store: its first, or a later one, after five settlements and one new escrow. */
const openWorld = async (kind: "first" | "later") => {
  const node = worldOf(ESCROWS);
  const served = serveNode(new ChainNode(node).answer);
  const answers = countAnswers();
  const path = freshPath("store.sqlite");
  const index = await openIndexOfNode({ url: served.url, path, ledger: answers.wrap });
  if (kind === "later") {
    expect(Exit.isSuccess(await index.sync())).toBe(true);
    node.slot += 10n;
    for (const number of [0, 4, 8]) node.putEscrow(refundedOf(worldEscrow(number)));
    node.putEscrow(worldEscrow(ESCROWS));
    node.slot += 10n;
  }
  answers.state.count = 0;
  const close = async () => {
    await index.close();
    served[Symbol.dispose]();
  };
  return { index, path, answers: answers.state, close };
};

type Counted = { failAt: number; count: number };

/** Fails the k-th call for each k of a sync, with a new store each time. `counterOf` chooses the calls. */
const failEach = async (
  kind: "first" | "later",
  what: string,
  stride: number,
  counterOf: (world: Awaited<ReturnType<typeof openWorld>>) => Counted,
): Promise<void> => {
  const whole = await openWorld(kind);
  const counter = counterOf(whole);
  counter.count = 0;
  await whole.index.sync();
  const calls = counter.count;
  await whole.close();
  const reference = dumpOfIndex(whole.path, { references: true });
  expect(calls).toBeGreaterThan(3);
  let failed = 0;
  for (let k = 1 + Math.floor(randomOf(what)() * stride); k <= calls; k += stride) {
    const when = `seed ${SEED}, ${kind} sync, ${what} ${k} of ${calls}`;
    const world = await openWorld(kind);
    const counter = counterOf(world);
    counter.count = 0;
    counter.failAt = k;
    if (Exit.isFailure(await world.index.sync())) failed += 1;
    counter.failAt = 0;
    await expectWholeBatches(world.index, when);
    expect(Exit.isSuccess(await world.index.sync()), when).toBe(true);
    await world.close();
    expect(dumpOfIndex(world.path, { references: true }) === reference, when).toBe(true);
  }
  tell(
    `${kind} sync, ${calls} ${what}s: ${failed} failures, each whole, converged when tried again`,
  );
  expect(failed).toBeGreaterThan(0);
};

for (const kind of ["first", "later"] as const) {
  test(
    `whichever answer of the ledger fails in the ${kind} sync, the next sync ends as without a failure`,
    async () => {
      await failEach(kind, "answer", 1, (world) => world.answers);
    },
    LONG_MS,
  );

  test(
    `whichever statement of the store fails in the ${kind} sync, the next sync ends as without a failure`,
    async () => {
      using statements = countStatements();
      await failEach(kind, "statement", STATEMENT_STRIDE, () => statements);
    },
    LONG_MS,
  );
}
