import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "bun:test";
import { Cause, Effect, Exit } from "effect";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { indexedEscrowOf, projectAt } from "../../core/log/leaf/escrow-rows.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { worldOf } from "../simulation/world.ts";
import { pendingOf, refundedOf, worldEscrow, worldMerchant } from "../simulation/world-escrow.ts";
import type { SettlementChain } from "../world/settlement-chain.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { hostileNode } from "./hostile-node.ts";
import type { Scenario } from "./scenario.ts";

const ESCROWS = 24;
const ROUNDS = 5;
const ALL = 100_000;
/** Waits short enough for a test: the node's faults do not depend on time. */
export const SHORT_WAITS = { backoffBaseMs: 2, backoffCapMs: 20, retryAfterCapMs: 20 };
/** A node that may fail a sync is not waited for: one that has fallen back to another ledger never gets to the slot. */
const UNUSUAL_PATIENCE_MS = 250;
/** Syncs after the fault within which an index must have caught up. Contradictions need a few. */
const SYNCS_TO_HEAL = 6;

type Index = Awaited<ReturnType<typeof openIndexOfNode>>;

const read = async <A, E>(
  { run }: Pick<Index, "run">,
  effect: Effect.Effect<A, E, IndexReader>,
) => {
  const exit = await run(effect);
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
  return exit.value;
};

/** Some creations, settlements and changes of merchants, over a few slots. */
const advance = (world: SettlementChain, random: () => number): void => {
  for (let changes = 1 + Math.floor(random() * 14); changes > 0; changes--) {
    world.slot += BigInt(Math.floor(random() * 3));
    const some = worldEscrow(Math.floor(random() * world.escrows.size));
    for (let merchants = random() < 0.2 ? 6 : 0; merchants > 0; merchants--) {
      const merchant = worldMerchant(Math.floor(random() * 50));
      world.changeMerchant({ ...merchant, updatedAt: merchant.updatedAt + world.slot });
    }
    if (random() < 0.6) world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
    else if (world.escrows.get(some.address)?.state === "Pending")
      world.putEscrow(refundedOf(pendingOf(some)));
  }
  world.slot += BigInt(1 + Math.floor(random() * 40));
};

/** The ledger's escrows after the event numbered `count`. */
const escrowsAt = (world: SettlementChain, count: bigint): ReadonlyMap<string, Escrow> =>
  new Map(
    [...world.escrows.values()].flatMap((escrow) => {
      const row = projectAt(indexedEscrowOf(escrow, encodeEscrowAccount(escrow)), count);
      return row === null ? [] : [[escrow.address, row.escrow] as const];
    }),
  );

/** Expects an index without a mark and rows, or one that shows exactly the ledger's state after the mark's count. */
const expectTrue = async (index: Index, world: SettlementChain, when: string): Promise<bigint> => {
  const [escrows, { mark }] = await read(
    index,
    IndexReader.use((store) => Effect.all([store.escrows({}, ALL, null), store.summary])),
  );
  const shown = new Map(escrows.map((escrow) => [escrow.address, escrow]));
  const count = mark?.count ?? 0n;
  expect(shown, when).toEqual(new Map(escrowsAt(world, count)) as typeof shown);
  return count;
};

const merchantsIn = (index: Index) =>
  read(
    index,
    IndexReader.use((store) => store.merchants({}, 1000, null)),
  );

/** Expects each merchant's row to be what the ledger has now. */
const expectMerchants = async (
  index: Index,
  world: SettlementChain,
  when: string,
): Promise<void> => {
  const rows = await merchantsIn(index);
  const truth = [...world.merchants.values()].map(
    ({ address, updatedAt }) => [address, updatedAt] as const,
  );
  const shown = rows.map(({ merchant }) => [merchant.address, merchant.updatedAt] as const);
  expect(new Map(shown), when).toEqual(new Map(truth));
};

/**
 * Syncs an index through a scenario while its ledger changes, then heals the node. Throughout, the index shows the
 * ledger's state after its mark and never goes back; in the end it equals the ledger. Returns how many syncs of the
 * hostile part completed.
 */
export const endure = async (scenario: Scenario, seed: number): Promise<number> => {
  const when = `${scenario.name}, seed ${seed}`;
  const random = seededRandom(seed + 1);
  const world = worldOf(ESCROWS);
  const folder = mkdtempSync(join(tmpdir(), "settlement-hostile-"));
  scenario.prepare?.(world, random);
  using node = hostileNode({ backend: worldBackend(world), scenario, seed });
  const open = () =>
    openIndexOfNode({
      url: node.url,
      path: join(folder, "index.sqlite"),
      waits: SHORT_WAITS,
      ...(scenario.isUsual ? {} : { behindPatienceMs: UNUSUAL_PATIENCE_MS }),
    });
  let index = await open();
  try {
    let completed = 0;
    let count = 0n;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) advance(world, random);
      const exit = await index.sync();
      if (Exit.isSuccess(exit)) completed += 1;
      else if (scenario.isUsual) throw new Error(`${when}: ${Cause.pretty(exit.cause)}`);
      const now = await expectTrue(index, world, when);
      expect(now, when).toBeGreaterThanOrEqual(count);
      if (scenario.isUsual && scenario.hidesMerchants !== true)
        await expectMerchants(index, world, when);
      count = now;
      // A restarted process has an empty memory.
      if (random() < 0.3) {
        await index.close();
        index = await open();
      }
    }
    node.setHostile(false);
    advance(world, random);
    let isHealed = false;
    for (let sync = 0; sync < SYNCS_TO_HEAL && !isHealed; sync++) {
      // History alone would not tell of merchants that it hid for longer than its overlap.
      isHealed = Exit.isSuccess(await index.run(IndexSync.use(({ snapshot }) => snapshot)));
      count = await expectTrue(index, world, when);
    }
    expect(count, when).toBe(world.custodyLog.count);
    await expectMerchants(index, world, when);
    return completed;
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
