import { beforeAll, expect, test } from "bun:test";
import { Cause, Effect, Exit, Layer, Queue, Scope } from "effect";
import { TestClock } from "effect/testing";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { witnessStateMemory } from "../../../../adapters/memory/witness-state.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import { isSameHash } from "../../../../core/log/tree/tree-hash.ts";
import { WitnessState } from "../../../../ports/log/witness-state.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { SimulatedLog } from "./support/simulated-log.ts";
import { eventLeaf, LEAF_ZERO, ORIGIN, say, WitnessWorld } from "./support/witness-world.ts";

beforeAll(() => provideSha256(sha256Bun));

/** The root of leaves, by another way than the witness's. */
const rootOf = (leaves: ReadonlyArray<Uint8Array>): Uint8Array =>
  new SimulatedLog(ORIGIN, leaves).root(leaves.length);

const SCHEDULES = Number(process.env["WITNESS_SCHEDULES"] ?? 40);
const STEPS = 30;

/** Where the process dies: before the state's next write, after it, or not at all. */
type Fate = "before" | "after" | null;

class Killed extends Error {}

/** A state whose next write may kill the process that makes it. */
const mortal = (fate: () => Fate): Layer.Layer<WitnessState> =>
  Layer.effect(
    WitnessState,
    WitnessState.use((inner) => {
      const dying = <A, E>(write: Effect.Effect<A, E>) =>
        Effect.suspend(() => {
          const at = fate();
          if (at === "before") return Effect.die(new Killed());
          return at === "after" ? Effect.andThen(write, Effect.die(new Killed())) : write;
        });
      return Effect.succeed(
        WitnessState.of({
          ...inner,
          compareAndSet: (...args) => dying(inner.compareAndSet(...args)),
          keepRefused: (...args) => dying(inner.keepRefused(...args)),
        }),
      );
    }),
  ).pipe(Layer.provide(witnessStateMemory));

/** Leaves of a node's own history, and of a log's: no two of the liars ever tell the same. */
const NODES_FORK = 2_000_000_000;
const LOGS_FORK = 3_000_000_000;
/** Offers after which an honest log of an honest node must be cosigned. */
const MOST_OFFERS = 3;
const CALM_ROUNDS = 5;

/** A history that is the ledger's up to an event, and another one from there on. */
const forked = (events: ReadonlyArray<Uint8Array>, from: number, first: number) =>
  events.map((leaf, at) => (at < from ? leaf : eventLeaf(first + at)));

/** What happened in schedules. */
type Tally = {
  cosigned: number;
  /** Without a read of the log. */
  unfetched: number;
  killed: number;
  restarted: number;
  /** Offers of a log, and looks of a node, that showed another history than the ledger's. */
  falseOffers: number;
  falseNode: number;
  /** How often the node went down or was rolled back. */
  limited: number;
  /** What its WebSocket told of the account, and how much of that was no state of the ledger. */
  told: number;
  falselyTold: number;
  /** The most offers that an honest log needed in the end. */
  mostOffers: number;
};

/** One schedule. @throws for a broken promise. */
const runSchedule = async (seed: number): Promise<Tally> => {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  let fate: Fate = null;
  const world = new WitnessWorld(
    ORIGIN,
    mortal(() => fate),
  );
  const tally: Tally = {
    cosigned: 0,
    unfetched: 0,
    killed: 0,
    restarted: 0,
    falseOffers: 0,
    falseNode: 0,
    limited: 0,
    told: 0,
    falselyTold: 0,
    mostOffers: 0,
  };
  /** Finality comes by many events at once, or with each. */
  const jumps = below(2) === 0;
  let isCalm = false;
  let finalized = 0;
  let nodeForkAt: number | null = null;
  let logForkAt: number | null = null;
  /**
   * The most events that the node has shown for three seconds or longer: none while it is down, fewer while it is
   * rolled back.
   */
  let nodeLimit = Infinity;
  world.nodeEvents = () => {
    if (isCalm) return finalized;
    if (nodeLimit < 0 || below(20) === 0) return null;
    // A node of several answers, one of which is behind.
    const seen = Math.min(finalized, nodeLimit);
    const count = Math.max(0, seen - (below(5) === 0 ? below(4) : 0));
    if (nodeForkAt === null) return count;
    if (nodeForkAt < count) tally.falseNode += 1;
    // It may also tell of events that the ledger has not logged yet.
    const told = nodeLimit === Infinity && below(3) === 0 ? count + below(40) : count;
    const events = Array.from({ length: told }, (_, at) => world.events[at] ?? new Uint8Array());
    return forked(events, Math.min(nodeForkAt, count), NODES_FORK);
  };
  const rootOfSize = new Map<number, string>();

  /** Notes a cosignature. Throws unless it is of the ledger's own root at that size, as the ledger has finalized it. */
  const note = (body: string) => {
    tally.cosigned += 1;
    const [, at = "", root = ""] = body.slice(body.indexOf("\n\n") + 2).split("\n");
    const size = Number(at);
    expect(rootOfSize.get(size) ?? root).toBe(root);
    rootOfSize.set(size, root);
    const ledger = new SimulatedLog(ORIGIN, [LEAF_ZERO, ...world.events]);
    expect(bytesToHex(Buffer.from(root, "base64"))).toBe(bytesToHex(ledger.root(size)));
    expect(size - 1).toBeLessThanOrEqual(Math.min(finalized, nodeLimit));
  };

  await world.run(
    Effect.gen(function* () {
      let life = yield* Scope.make();
      /** Another process, with nothing but what the state keeps. */
      const begin = Effect.gen(function* () {
        yield* Scope.close(life, Exit.void);
        life = yield* Scope.make();
        return yield* Scope.provide(world.witness, life);
      });
      let witness = yield* begin;
      /** Offers a request. Says whether it was cosigned, and starts the witness anew if that killed it. */
      const send = Effect.fnUntraced(function* (body: string) {
        const { reads } = world.log;
        const exit = yield* Effect.exit(say(witness, body));
        fate = null;
        if (Exit.isFailure(exit)) {
          expect(Cause.squash(exit.cause)).toBeInstanceOf(Killed);
          tally.killed += 1;
          witness = yield* begin;
          return false;
        }
        if (exit.value !== "cosigned") return false;
        note(body);
        if (world.log.reads === reads) tally.unfetched += 1;
        return true;
      });
      const keptSize = WitnessState.use((state) => state.read(ORIGIN)).pipe(
        Effect.map((kept) => kept?.size ?? 0),
      );

      /** What the node's WebSocket says by itself: often nothing, and not always the truth. */
      const news = Effect.gen(function* () {
        const kind = below(6);
        if (kind === 0) yield* Queue.offerAll(world.news, [{ kind: "taken" }, { kind: "pushed" }]);
        if (kind === 1 && below(4) === 0) yield* Queue.offer(world.news, { kind: "lost" });
        if (kind < 2 || kind > 3) return;
        tally.told += 1;
        const isFalse = below(4) === 0;
        if (isFalse) tally.falselyTold += 1;
        yield* world.tell(isFalse ? forked(world.events, 0, NODES_FORK) : finalized);
      });

      let offered: Array<string> = [];
      for (let step = 0; step < STEPS; step++) {
        world.grow(below(12) === 0 ? below(300) : below(4));
        const { length } = world.events;
        if (!jumps) finalized += below(length - finalized + 1);
        else if (below(6) === 0) finalized = length;
        if (below(8) === 0) nodeForkAt = nodeForkAt === null ? below(length + 1) : null;
        if (below(8) === 0) logForkAt = logForkAt === null ? below(length + 1) : null;
        yield* news;
        yield* TestClock.adjust(`${below(5)} seconds`);
        if (below(8) === 0) {
          nodeLimit = nodeLimit === Infinity ? below(finalized + 2) - 1 : Infinity;
          if (nodeLimit < Infinity) tally.limited += 1;
          yield* TestClock.adjust("3 seconds");
        }
        if (below(10) === 0) {
          tally.restarted += 1;
          witness = yield* begin;
        }
        // The log may be ahead of the node, tell another history from an event on, and lie about an event.
        const honest = [LEAF_ZERO, ...world.events];
        const shown =
          logForkAt === null ? honest : [LEAF_ZERO, ...forked(world.events, logForkAt, LOGS_FORK)];
        world.log.leaves = [...shown];
        if (below(4) === 0 && length > 0)
          world.log.leaves[1 + below(length)] = eventLeaf(1e9 + step);
        world.log.isDown = below(15) === 0;
        const kept = yield* keptSize;
        const size = below(10) === 0 ? 1 + below(honest.length) : honest.length;
        const old = below(8) === 0 ? below(size + 1) : Math.min(kept, size);
        const body = world.log.offer(old, size);
        const isFalse = !isSameHash(world.log.root(size), rootOf(honest.slice(0, size)));
        if (isFalse) tally.falseOffers += 1;
        world.log.servedSize = below(4) === 0 ? size : honest.length;
        if (below(4) === 0) world.log.leaves = honest;
        offered = [...offered.slice(-5), body];
        const die = below(6);
        fate = die === 0 ? "before" : die === 1 ? "after" : null;
        yield* send(below(5) === 0 ? (offered[below(offered.length)] ?? body) : body);
        expect(yield* keptSize).toBeGreaterThanOrEqual(kept);
      }

      // From here on node and log are honest, and the ledger never rests.
      isCalm = true;
      nodeLimit = Infinity;
      world.log.isDown = false;
      for (let round = 0; round < CALM_ROUNDS; round++) {
        world.grow(1 + below(4));
        world.follow();
        // A log offers a checkpoint until it is cosigned, and signs further ones meanwhile.
        const body = world.log.offer(yield* keptSize, world.log.leaves.length);
        let isCosigned = false;
        for (let offers = 1; !isCosigned; offers++) {
          expect(offers, "offers of an honest log").toBeLessThanOrEqual(MOST_OFFERS);
          tally.mostOffers = Math.max(tally.mostOffers, offers);
          // Events go on between the log's signing and the witness's look.
          world.grow(1 + below(4));
          finalized = world.events.length;
          isCosigned = yield* send(body);
          yield* TestClock.adjust("2 seconds");
          world.follow();
          world.log.servedSize = world.log.leaves.length;
        }
      }
      yield* Scope.close(life, Exit.void);
    }),
  );
  return tally;
};

test(`${SCHEDULES} schedules of growth, lies, forks, rollbacks, outages, news, jumps of finality, offers, kills and restarts: one root for a size, and it is the ledger's; an honest log is cosigned in the end`, async () => {
  const total: Tally = await runSchedule(1);
  for (let seed = 2; seed <= SCHEDULES; seed++) {
    const ran = await runSchedule(seed).catch((cause: unknown) => {
      throw new Error(`schedule ${seed}`, { cause });
    });
    for (const name of Object.keys(ran) as ReadonlyArray<keyof Tally>)
      total[name] =
        name === "mostOffers" ? Math.max(total[name], ran[name]) : total[name] + ran[name];
  }
  console.log(`${SCHEDULES} schedules: ${JSON.stringify(total)}`);
  // Otherwise the schedules would show nothing.
  expect(total.cosigned).toBeGreaterThan(CALM_ROUNDS * SCHEDULES);
  expect(total.limited).toBeGreaterThan(SCHEDULES);
  expect(total.told).toBeGreaterThan(SCHEDULES);
  expect(total.falselyTold).toBeGreaterThan(SCHEDULES / 4);
  expect(total.killed).toBeGreaterThan(SCHEDULES / 4);
  expect(total.restarted).toBeGreaterThan(SCHEDULES);
  expect(total.falseOffers).toBeGreaterThan(SCHEDULES);
  expect(total.falseNode).toBeGreaterThan(SCHEDULES);
}, 900_000);
