import { expect } from "bun:test";
import { Duration, Effect } from "effect";
import { networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { rootOf } from "../../../core/log/tree/frontier.ts";
import { OFFER_UNCHANGED_EVERY } from "../../../core/use-cases/log/witnesses/checkpoint-offers.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { IndependentTree } from "../independent-tree.ts";
import { expectOfLedger } from "./expect-of-ledger.ts";
import type { LivingProcesses } from "./living-processes.ts";
import type { ScheduleOperator } from "./schedule-operator.ts";
import type { ScheduleWorld } from "./schedule-world.ts";
import type { ScheduleWitnesses } from "./schedule-witness.ts";
import type { SignedRoots } from "./run-schedule.ts";

/** Syncs of all processes after which the store must have come to the ledger's head. */
const MOST_ROUNDS = 20;

/**
 * The end of a schedule: nothing is wrong from here on, and the last word is the ledger's. Throws unless every store
 * comes to the ledger's head, holds its log whole, and all that was ever signed is that log's.
 */
export const comeToRest = Effect.fnUntraced(function* (
  { ledger, nodes, replicas }: ScheduleWorld,
  living: LivingProcesses,
  signed: SignedRoots,
  witnesses: ScheduleWitnesses,
  operator: ScheduleOperator,
) {
  nodes.calm();
  witnesses.calm();
  operator.completeKeys();
  for (let replica = 0; replica < replicas; replica++) yield* living.start(replica);
  const { custodyLog } = ledger;
  const isComplete = Effect.gen(function* () {
    const { mark } = yield* (living.all[0] ?? (yield* living.start(0))).index.reader.summary;
    return mark?.count === custodyLog.count && rootOf(mark) === custodyLog.root;
  });
  for (let round = 0; round === 0 || !(yield* isComplete); round++) {
    if (round === MOST_ROUNDS) throw new Error("the store does not come to the ledger's head");
    ledger.slot += 1n;
    yield* living.syncAll;
    yield* living.pass(60_000);
  }
  // A log whose signing was hindered is tried again.
  yield* living.syncAll;
  yield* living.pass(90_000);
  // A witness that went back after its last cosignature is asked again when the checkpoint is offered anew.
  const standing = Effect.gen(function* () {
    const [alive] = living.all;
    if (alive === undefined) throw new Error("no process lives");
    return yield* alive.index.log.standing;
  });
  if (!(yield* witnesses.haveCosigned(operator.expectOf(yield* standing))))
    yield* living.pass(Duration.toMillis(OFFER_UNCHANGED_EVERY));
  const last = operator.expectOf(yield* standing);

  const tree = new IndependentTree(
    { genesisHash: TEST_GENESIS_HASH, ...TEST_DEPLOYMENT },
    custodyLog.events,
  );
  const leaf0 = networkLeaf(TEST_GENESIS_HASH, TEST_DEPLOYMENT.custodyProgram);
  expect(Buffer.from(leaf0).equals(tree.leaves[0] ?? Buffer.alloc(0))).toBe(true);
  for (const process of living.all) {
    expect(process.refused()).toBeNull();
    yield* expectOfLedger(process.index, { ledger: tree, fork: null, sizes: "all" });
  }
  // Whatever happened on the way, a log that goes on is signed to the ledger's head, by all that sign and cosign it.
  if (!last.isLast) expect(last.size).toBe(tree.leaves.length);
  signed.expectOf(tree, last.size);
  yield* witnesses.expectOf(tree, last);
});
