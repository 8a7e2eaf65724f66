import { beforeAll, expect, test } from "bun:test";
import { Cause, Effect, Exit, Layer } from "effect";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { witnessStateMemory } from "../../../../adapters/memory/witness-state.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import { WitnessState } from "../../../../ports/log/witness-state.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { SimulatedLog } from "./support/simulated-log.ts";
import { eventLeaf, LEAF_ZERO, ORIGIN, say, WitnessWorld } from "./support/witness-world.ts";

beforeAll(() => provideSha256(sha256Bun));

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

/** One schedule: returns how many cosignatures it saw. @throws for a broken promise. */
const runSchedule = async (seed: number): Promise<{ cosigned: number; killed: number }> => {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  let fate: Fate = null;
  const world = new WitnessWorld(
    ORIGIN,
    mortal(() => fate),
  );
  let nodeCount = 0;
  world.nodeEvents = () => (below(20) === 0 ? null : world.events.slice(0, nodeCount));
  const rootOfSize = new Map<number, string>();
  let cosigned = 0;
  let killed = 0;
  await world.run(
    Effect.gen(function* () {
      let witness = yield* world.witness;
      let offered: Array<string> = [];
      for (let step = 0; step < STEPS; step++) {
        world.grow(below(12) === 0 ? below(300) : below(4));
        nodeCount += below(world.events.length - nodeCount + 1);
        const honest = [LEAF_ZERO, ...world.events];
        // The log may be ahead of the node, and may lie about an event.
        world.log.leaves = honest;
        const lies = below(3) === 0 && world.events.length > 0;
        if (lies) {
          world.log.leaves = [...honest];
          world.log.leaves[1 + below(world.events.length)] = eventLeaf(1e9 + step);
        }
        world.log.isDown = below(15) === 0;
        const kept = yield* WitnessState.use((state) => state.read(ORIGIN));
        const size = below(10) === 0 ? 1 + below(honest.length) : honest.length;
        const old = below(8) === 0 ? below(size + 1) : Math.min(kept?.size ?? 0, size);
        const body = world.log.offer(old, size);
        world.log.servedSize = below(4) === 0 ? size : honest.length;
        if (below(4) === 0) world.log.leaves = honest;
        offered = [...offered.slice(-5), body];
        const sent = below(5) === 0 ? (offered[below(offered.length)] ?? body) : body;
        const die = below(6);
        fate = die === 0 ? "before" : die === 1 ? "after" : null;
        const exit = yield* Effect.exit(say(witness, sent));
        fate = null;
        if (Exit.isFailure(exit)) {
          expect(Cause.squash(exit.cause)).toBeInstanceOf(Killed);
          killed += 1;
          witness = yield* world.witness;
        } else if (exit.value === "cosigned") {
          cosigned += 1;
          const [, at = "", root = ""] = sent.slice(sent.indexOf("\n\n") + 2).split("\n");
          const before = rootOfSize.get(Number(at));
          expect(before ?? root).toBe(root);
          rootOfSize.set(Number(at), root);
          const ledger = new SimulatedLog(ORIGIN, honest);
          expect(bytesToHex(Buffer.from(root, "base64"))).toBe(bytesToHex(ledger.root(Number(at))));
          expect(Number(at) - 1).toBeLessThanOrEqual(nodeCount);
        }
        const next = yield* WitnessState.use((state) => state.read(ORIGIN));
        expect(next?.size ?? 0).toBeGreaterThanOrEqual(kept?.size ?? 0);
      }
    }),
  );
  return { cosigned, killed };
};

test(`${SCHEDULES} schedules of growth, lies, offers and kills: one root for a size, and it is the ledger's`, async () => {
  let cosigned = 0;
  let killed = 0;
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const ran = await runSchedule(seed).catch((cause: unknown) => {
      throw new Error(`schedule ${seed}`, { cause });
    });
    cosigned += ran.cosigned;
    killed += ran.killed;
  }
  // Otherwise the schedules would show nothing.
  expect(cosigned).toBeGreaterThan(2 * SCHEDULES);
  expect(killed).toBeGreaterThan(SCHEDULES / 4);
}, 300_000);
