import { Effect, Exit, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { FAIR, FOUL, type WeatheredChain } from "../../world/weathered-chain.ts";
import { IndependentTree } from "../independent-tree.ts";
import { comeToRest } from "./come-to-rest.ts";
import { expectOfLedger } from "./expect-of-ledger.ts";
import { LivingProcesses } from "./living-processes.ts";
import type { ScheduleProcess } from "./schedule-process.ts";
import type { StoreKind } from "./schedule-stores.ts";
import { ScheduleOperator } from "./schedule-operator.ts";
import { type ScheduleWorld, scheduleWorld } from "./schedule-world.ts";
import { NOTHING, type Tally } from "./tally.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { patientClock } from "../../doubles/patient-clock.ts";
import { type ScheduleWitnesses, scheduleWitnesses } from "./schedule-witness.ts";
import { expect } from "bun:test";
import { parseCheckpointText } from "../../../core/log/checkpoint/checkpoint.ts";

/** Every root that a schedule's processes have signed, whichever of them did. */
export class SignedRoots {
  /** How often something was signed. */
  times = 0;
  readonly #roots = new Map<string, string>();
  /** The size of the last checkpoint of a log that ended. */
  #lastSize = Infinity;

  /** Notes a text that a key signed. Throws at a second root of a size, and at a larger size than the last one's. */
  readonly note = (text: string): void => {
    const parsed = parseCheckpointText(text);
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { origin, size, root, isLast = false } = parsed.value;
    if (isLast) this.#lastSize = Math.min(size, this.#lastSize);
    if (size > this.#lastSize) throw new Error(`size ${size} is signed after the log's end`);
    const hex = Buffer.from(root).toString("hex");
    const before = this.#roots.get(`${origin} ${size}`);
    if (before !== undefined && before !== hex) throw new Error(`two roots of size ${size}`);
    this.#roots.set(`${origin} ${size}`, hex);
    this.times += 1;
  };

  /** Expects that all of them are a tree's, and that it is signed to a size and no further. */
  expectOf(tree: IndependentTree, size: number): void {
    const own = `log.example/log/${tree.networkId}/0`;
    for (const [key, root] of this.#roots) {
      const [origin = "", of = ""] = key.split(" ");
      expect(origin).toBe(own);
      expect(root, `the signed root of size ${of}`).toBe(tree.roots[Number(of) - 1] ?? "");
      expect(Number(of)).toBeLessThanOrEqual(size);
    }
    expect(this.#roots.has(`${own} ${size}`)).toBe(true);
  }
}

const START_MS = 1_800_000_000_000;
const SLOT_MS = 400;
const NETWORK = { genesisHash: TEST_GENESIS_HASH, ...TEST_DEPLOYMENT };

const treeOf = ({ custodyLog }: WeatheredChain) => new IndependentTree(NETWORK, custodyLog.events);

/** A tally that is still counted. */
type Counting = { -readonly [name in keyof Tally]: Tally[name] };

/** A store that says it is complete to a count holds the ledger's events, or those of the fork that a node showed. */
const check = Effect.fnUntraced(function* (
  { ledger, fork, mayFork }: ScheduleWorld,
  { index }: ScheduleProcess,
  tally: Counting,
) {
  const isOnFork = yield* expectOfLedger(index, {
    ledger: treeOf(ledger),
    fork: mayFork ? treeOf(fork) : null,
    sizes: "some",
  });
  if (isOnFork) tally.onFork += 1;
  tally.unseen += (yield* index.writer.unseen(1, 0n)).length;
});

/**
 * A sync by any replica, over nodes that do what they like. The process may die at one of its calls, and start again.
 */
const syncSomehow = Effect.fnUntraced(function* (
  world: ScheduleWorld,
  living: LivingProcesses,
  tally: Counting,
) {
  const { random, below, ledger, fork, nodes, mayFork, replicas } = world;
  const replica = below(replicas);
  const process = yield* living.start(replica);
  nodes.stir(ledger, mayFork);
  ledger.weather = random() < 0.3 ? FOUL : FAIR;
  fork.slot = ledger.slot;
  if (random() < 0.35) {
    const last = random() < 0.5 ? 30 : 150;
    process.calls.dieAt(1 + below(last), random() < 0.5);
  }
  const exit = yield* living.outcome(process, yield* process.sync);
  yield* living.pass(below(4) * 1000);
  process.calls.spare();
  ledger.weather = FAIR;
  tally.syncs += 1;
  if (exit !== null && Exit.isFailure(exit)) tally.failedSyncs += 1;
  if (process.calls.isDead) {
    tally.kills += 1;
    yield* living.end(replica);
    if (random() < 0.7) yield* living.start(replica);
  } else if (random() < 0.1) {
    tally.restarts += 1;
    yield* living.end(replica);
    yield* living.start(replica);
  }
  for (const alive of living.all) yield* check(world, alive, tally);
});

/** Lets the ledger and the fork grow to their ends, with syncs in between. */
const grow = Effect.fnUntraced(function* (
  world: ScheduleWorld,
  living: LivingProcesses,
  tally: Counting,
  beforeSync: Effect.Effect<void>,
) {
  const { below, ledger, steps, forkSteps, isLarge } = world;
  const syncs = 4 + below(8);
  // Nobody looks before this step: what is settled and archived until then was never seen.
  const firstLook = below(Math.max(1, steps.length - 1));
  const every = Math.max(1, Math.floor((steps.length - firstLook) / syncs));
  for (const [at, act] of steps.entries()) {
    act();
    forkSteps[at]?.();
    const slots = isLarge ? below(4) : 1 + below(60);
    ledger.slot += BigInt(slots);
    if (at < firstLook) yield* TestClock.adjust(slots * SLOT_MS);
    else yield* living.pass(slots * SLOT_MS);
    if (at < firstLook || (at - firstLook) % every !== 0) continue;
    yield* beforeSync;
    yield* syncSomehow(world, living, tally);
  }
});

/**
 * One schedule: a ledger grows while processes that share a store sync it, publish its log, die and start again, over
 * nodes that lag, lie and differ. Throws where a store says that it is complete and is not the ledger's, or where a
 * signed or a cosigned root is not the ledger's.
 */
export const runSchedule = async (seed: number, kind: StoreKind): Promise<Tally> => {
  const tally: Counting = { ...NOTHING, schedules: 1 };
  const world = scheduleWorld(seed, kind.mostReplicas);
  const { replicas, nodes, ledger } = world;
  const signed = new SignedRoots();
  const program = Effect.gen(function* () {
    yield* TestClock.setTime(START_MS);
    const store = yield* kind.open(replicas);
    const orders = seededRandom(seed + 4);
    const operator = new ScheduleOperator(replicas, (n) => Math.floor(orders() * n));
    const living = new LivingProcesses((replica) => ({
      store: store.layer,
      guard: store.guard,
      pool: nodes.pool,
      nodes: nodes.each,
      lease: store.leaseOf(replica),
      key: operator.keyOf(replica, signed.note),
      witness: (url, body) => witnesses.client(url, body),
    }));
    const chance = seededRandom(seed + 3);
    const witnesses: ScheduleWitnesses = yield* scheduleWitnesses(
      ledger,
      () => living.all.map(({ index }) => index),
      (n) => Math.floor(chance() * n),
    );
    let kept: ScheduleOperator["copy"] | null = null;
    let takenBack = 0;
    /**
     * Copies the store and what the replicas' keys have beside them, or takes the store back to the copy, mostly with the
     * keys' files. Nobody takes back a log's end, but the order for it may come after a copy of before.
     */
    const backUp = Effect.gen(function* () {
      const { backup } = store;
      if (backup === null || operator.hasEnded || chance() < 0.5) return;
      yield* living.endAll;
      if (kept === null || chance() < 0.4) {
        yield* backup.keep;
        kept = operator.copy;
        return;
      }
      yield* backup.restore;
      if (chance() < 0.7) operator.restore(kept);
      takenBack += 1;
    });
    const stirred = Effect.suspend(() => {
      operator.stir();
      return Effect.andThen(
        backUp,
        witnesses.stir(treeOf(ledger).leaves, treeOf(world.fork).leaves.slice(1), operator.isToEnd),
      );
    });
    yield* grow(world, living, tally, chance() < 0.3 ? Effect.void : stirred);
    yield* comeToRest(world, living, signed, witnesses, operator);
    tally.takenBack = takenBack;
    const { cosigned, lies, restored } = witnesses;
    const { rotated, retired, isToEnd } = operator;
    Object.assign(tally, { cosigned, lies, restored, rotated, retired, ended: Number(isToEnd) });
    yield* living.endAll;
    yield* witnesses.end;
  });
  const silent = Layer.merge(patientClock(), Logger.layer([]));
  await Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(silent)));
  return { ...tally, signed: signed.times, events: ledger.custodyLog.events.length };
};
