import { expect } from "bun:test";
import { Clock, Effect, Exit, type Fiber, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { networkLeaf } from "../../../core/log/leaf/network-leaf.ts";
import { parseCheckpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { anyMerchant, type EscrowLife, escrowLives } from "../../arbitraries/index-history.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { FAIR, FOUL, SimulatedLedger } from "../../core/use-cases/index/simulated-ledger.ts";
import { IndependentTree } from "../independent-tree.ts";
import { expectOfLedger } from "./expect-of-ledger.ts";
import { ScheduleNodes } from "./schedule-nodes.ts";
import { type ProcessParts, type ScheduleProcess, startProcess } from "./schedule-process.ts";
import type { StoreKind } from "./schedule-stores.ts";

/** What happened in schedules: a run in which one of these is missing proves less than it says. */
export type Tally = {
  readonly schedules: number;
  readonly events: number;
  readonly syncs: number;
  readonly failedSyncs: number;
  readonly kills: number;
  readonly restarts: number;
  readonly signed: number;
  readonly onFork: number;
  readonly unseen: number;
};

export const NOTHING: Tally = {
  schedules: 0,
  events: 0,
  syncs: 0,
  failedSyncs: 0,
  kills: 0,
  restarts: 0,
  signed: 0,
  onFork: 0,
  unseen: 0,
};

const START_MS = 1_800_000_000_000;
const SLOT_MS = 400;
/** Of virtual time. A sync that takes longer hangs. */
const LONGEST_SYNC_MS = 3_600_000;
const NETWORK = { genesisHash: TEST_GENESIS_HASH, ...TEST_DEPLOYMENT };

const sampled = <T>(values: fc.Arbitrary<T>, seed: number): T => {
  const [value] = fc.sample(values, { numRuns: 1, seed });
  if (value === undefined) throw new Error("no sample");
  return value;
};

/** The steps of lives in a random order that keeps each life's own. Some settled escrows are archived at once, some later. */
const stepsOf = (
  ledger: SimulatedLedger,
  lives: ReadonlyArray<EscrowLife>,
  random: () => number,
): ReadonlyArray<() => void> =>
  lives
    .flatMap((life) => {
      const [created, settled] = [random(), random()].sort((a, b) => a - b);
      return [
        { at: created ?? 0, act: () => ledger.create(life) },
        ...life
          .slice(1)
          .flatMap((last) => [
            { at: settled ?? 0, act: () => ledger.settle(last) },
            ...(random() < 0.6
              ? [{ at: (settled ?? 0) + random() * 0.3, act: () => ledger.archive(last) }]
              : []),
          ]),
      ];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ act }) => act);

/** Lets the event loop turn, where files and connections answer. */
const turn = Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)));

/**
 * One schedule: a ledger grows while processes that share a store sync it, publish its log, die and start again, over nodes
 * that lag, lie and differ. Throws where a store says that it is complete and is not the ledger's, or where a signed root is
 * not the ledger's.
 */
export const runSchedule = (seed: number, kind: StoreKind): Promise<Tally> => {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const tally = { ...NOTHING, schedules: 1 };
  const ledger = new SimulatedLedger(seededRandom(seed + 1));
  const fork = new SimulatedLedger(seededRandom(seed + 2));
  // Some ledgers fill a tile of 256 leaves.
  const isLarge = below(6) === 0;
  const most = isLarge ? 220 : 24;
  const lives = sampled(escrowLives(most, isLarge ? 180 : 1), seed);
  const steps = stepsOf(ledger, lives, random);
  const forkSteps = stepsOf(fork, sampled(escrowLives(most, 1), seed + 1), random);
  for (const merchant of sampled(fc.array(anyMerchant, { maxLength: 2 }), seed))
    ledger.register(merchant);
  const mayFork = below(3) === 0;
  const replicas = 1 + below(kind.mostReplicas);
  const nodes = new ScheduleNodes(1 + below(3), { ledger, fork }, random);
  const roots = new Map<string, string>();
  const signed = (text: string): void => {
    const parsed = parseCheckpointText(text);
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { origin, size, root } = parsed.value;
    const hex = Buffer.from(root).toString("hex");
    const before = roots.get(`${origin} ${size}`);
    if (before !== undefined && before !== hex) throw new Error(`two roots of size ${size}`);
    roots.set(`${origin} ${size}`, hex);
    tally.signed += 1;
  };

  const program = Effect.gen(function* () {
    yield* TestClock.setTime(START_MS);
    const store = yield* kind.open(replicas);
    const keyFiles = Array.from({ length: replicas }, () => ({ text: null as string | null }));
    const living = new Map<number, ScheduleProcess>();

    /** Lets virtual time pass, never while a process waits for its store. */
    const pass = Effect.fnUntraced(function* (ms: number) {
      const until = (yield* Clock.currentTimeMillis) + ms;
      for (;;) {
        const now = yield* Clock.currentTimeMillis;
        if (now >= until) return;
        if ([...living.values()].every(({ calls }) => calls.inFlight === 0))
          yield* TestClock.adjust(Math.min(250, until - now));
        yield* turn;
      }
    });
    const start = Effect.fnUntraced(function* (replica: number) {
      const parts: ProcessParts = {
        store: store.layer,
        guard: store.guard,
        pool: nodes.pool,
        nodes: nodes.each,
        lease: store.leaseOf(replica),
        keyFile: keyFiles[replica] ?? { text: null },
        signed,
      };
      const process = yield* startProcess(parts);
      living.set(replica, process);
      return process;
    });
    const end = Effect.fnUntraced(function* (replica: number) {
      const process = living.get(replica);
      living.delete(replica);
      if (process === undefined) return;
      expect(process.calls.isDead ? null : process.refused()).toBeNull();
      yield* process.end;
    });
    /** Waits for a sync; null when its process died. */
    const outcome = Effect.fnUntraced(function* <A, E>(
      { calls }: ScheduleProcess,
      running: Fiber.Fiber<A, E>,
    ) {
      const until = (yield* Clock.currentTimeMillis) + LONGEST_SYNC_MS;
      for (;;) {
        const exit = running.pollUnsafe();
        if (exit !== undefined) return exit;
        if (calls.isDead) return null;
        if ((yield* Clock.currentTimeMillis) > until) throw new Error("a sync hangs");
        yield* pass(50);
      }
    });
    const tree = (of: SimulatedLedger) => new IndependentTree(NETWORK, of.custodyLog.events);
    /** A store that says it is complete to a count holds the ledger's events, or those of the fork that a node showed. */
    const check = Effect.fnUntraced(function* (process: ScheduleProcess) {
      const isOnFork = yield* expectOfLedger(process.index, {
        ledger: tree(ledger),
        fork: mayFork ? tree(fork) : null,
        sizes: "some",
      });
      if (isOnFork) tally.onFork += 1;
      tally.unseen += (yield* process.index.writer.unseen(1, 0n)).length;
    });

    /** A sync by any replica, which may die at one of its calls. */
    const sync = Effect.gen(function* () {
      const replica = below(replicas);
      const process = living.get(replica) ?? (yield* start(replica));
      nodes.stir(ledger, mayFork);
      ledger.weather = random() < 0.3 ? FOUL : FAIR;
      fork.slot = ledger.slot;
      if (random() < 0.35) {
        const last = random() < 0.5 ? 30 : 150;
        process.calls.dieAt(1 + below(last), random() < 0.5);
      }
      const exit = yield* outcome(process, yield* process.sync);
      yield* pass(below(4) * 1000);
      process.calls.spare();
      ledger.weather = FAIR;
      tally.syncs += 1;
      if (exit !== null && Exit.isFailure(exit)) tally.failedSyncs += 1;
      if (process.calls.isDead) {
        tally.kills += 1;
        yield* end(replica);
        if (random() < 0.7) yield* start(replica);
      } else if (random() < 0.1) {
        tally.restarts += 1;
        yield* end(replica);
        yield* start(replica);
      }
      for (const alive of living.values()) yield* check(alive);
    });

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
      else yield* pass(slots * SLOT_MS);
      if (at >= firstLook && (at - firstLook) % every === 0) yield* sync;
    }

    // From here on nothing is wrong, and the last word is the ledger's.
    nodes.calm();
    for (let replica = 0; replica < replicas; replica++)
      if (!living.has(replica)) yield* start(replica);
    const isComplete = Effect.gen(function* () {
      const { mark } = yield* ([...living.values()][0] ?? (yield* start(0))).index.reader.summary;
      return mark?.count === ledger.custodyLog.count && mark.head === ledger.custodyLog.head;
    });
    for (let round = 0; round === 0 || !(yield* isComplete); round++) {
      if (round === 20) throw new Error("the store does not come to the ledger's head");
      ledger.slot += 1n;
      for (const process of living.values()) yield* outcome(process, yield* process.sync);
      yield* pass(60_000);
    }
    // A log whose signing was hindered is tried again.
    for (const process of living.values()) yield* outcome(process, yield* process.sync);
    yield* pass(90_000);

    const last = tree(ledger);
    expect(
      Buffer.from(networkLeaf(TEST_GENESIS_HASH, TEST_DEPLOYMENT)).equals(
        last.leaves[0] ?? Buffer.alloc(0),
      ),
    ).toBe(true);
    for (const process of living.values()) {
      expect(process.refused()).toBeNull();
      yield* expectOfLedger(process.index, { ledger: last, fork: null, sizes: "all" });
    }
    const origin = `log.example/log/${last.networkId}/0`;
    for (const [key, root] of roots) {
      const [of = "", size = ""] = key.split(" ");
      expect(of).toBe(origin);
      expect(root, `the signed root of size ${size}`).toBe(last.roots[Number(size) - 1] ?? "");
    }
    // Whatever happened on the way, the log is signed to its end.
    expect(roots.has(`${origin} ${last.leaves.length}`)).toBe(true);
    tally.events = ledger.custodyLog.events.length;
    for (const replica of living.keys()) yield* end(replica);
  });
  const silent = Layer.merge(TestClock.layer(), Logger.layer([]));
  return Effect.runPromise(program.pipe(Effect.scoped, Effect.provide(silent))).then(() => tally);
};
