import { expect, test } from "bun:test";
import { TestClock } from "effect/testing";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { say, WitnessWorld } from "./support/witness-world.ts";

const SLOT_MS = 400;
const SLOTS = 200;
/** The most slots for which a node finalizes nothing, where finality jumps. */
const LONGEST_STALL = 12;
/** Slots between two offers of one checkpoint, and between two checkpoints. */
const AGAIN_AFTER = 5;
const SIGN_EVERY = 3;

/**
 * How finality comes: with each slot; by some slots at once, for the whole ledger; or by some slots at once for each
 * node apart.
 */
type Finality = "steady" | "jumps" | "jumps on each node";

/** The last slot that is finalized, by slot. It stands still for a while and then jumps, one slot in three of them. */
const finalityOf = (jumps: boolean, random: () => number) => {
  const shown = [0];
  let stall = 0;
  return (slot: number): number => {
    for (let at = shown.length; at <= slot; at++) {
      shown.push(stall > 0 ? (shown[at - 1] ?? 0) : at);
      if (stall > 0) stall -= 1;
      else if (jumps && random() < 1 / 3) stall = Math.floor(random() * LONGEST_STALL);
    }
    return shown[slot] ?? 0;
  };
};

/** What two nodes show, one of them a slot behind the other; with jumps of their own, each a slot behind at times. */
const twoNodes = (finality: Finality, random: () => number) => {
  const whole = finalityOf(finality !== "steady", random);
  const other = finality === "jumps on each node" ? finalityOf(true, random) : whole;
  const behind = Math.floor(random() * 2);
  const late = (of: (slot: number) => number, slots: number) => (slot: number) =>
    of(Math.max(0, slot - (other === whole ? slots : Math.floor(random() * 2))));
  return [late(whole, behind), late(other, 1 - behind)] as const;
};

/** Offers that were cosigned, how many of them without a read of the log, and how many at the first offer. */
type Share = { cosigned: number; unfetched: number; atOnce: number };

/** A log signs what its node shows as finalized, and a witness follows another node of the same ledger. */
const shareOf = (rate: number, finality: Finality): Promise<Share> => {
  const world = new WitnessWorld();
  const random = seededRandom(rate);
  const [logsNode, ownNode] = twoNodes(finality, random);
  const share: Share = { cosigned: 0, unfetched: 0, atOnce: 0 };
  return world.run(function* (witness) {
    const countAt: Array<number> = [0];
    let finalized = 0;
    let signed = 0;
    let last = 0;
    let offered: { readonly body: string; readonly size: number; times: number } | null = null;
    let dueAt = 0;
    world.nodeEvents = () => finalized;
    yield* world.listens;
    for (let slot = 1; slot <= SLOTS; slot++) {
      world.grow(Math.floor((rate * slot * SLOT_MS) / 1000) - world.events.length);
      countAt.push(world.events.length);
      const seen = Math.max(finalized, countAt[ownNode(slot)] ?? 0);
      const isNews = seen !== finalized;
      finalized = seen;
      if (isNews) yield* world.tell();
      const logged = (countAt[logsNode(slot)] ?? 0) + 1;
      yield* TestClock.adjust(SLOT_MS);
      if (slot % SIGN_EVERY === 0 && logged > signed) {
        signed = logged;
        world.follow();
        world.log.servedSize = signed;
      }
      if (offered === null && signed > last) {
        offered = { body: world.log.offer(last, signed), size: signed, times: 0 };
        dueAt = slot;
      }
      if (offered === null || slot < dueAt) continue;
      offered.times += 1;
      dueAt = slot + AGAIN_AFTER;
      const { reads } = world.log;
      if ((yield* say(witness, offered.body)) !== "cosigned") continue;
      share.cosigned += 1;
      if (world.log.reads === reads) share.unfetched += 1;
      if (offered.times === 1) share.atOnce += 1;
      last = offered.size;
      offered = null;
    }
    return share;
  });
};

const percent = (part: number, whole: number): number => Math.round((100 * part) / whole);

test.each([
  ["steady", 99],
  ["jumps", 90],
  ["jumps on each node", 25],
] as const)(
  "a witness that follows its node cosigns a busy log, mostly from memory: finality %s",
  async (finality, least) => {
    for (const rate of [5, 20, 50]) {
      const { cosigned, unfetched, atOnce } = await shareOf(rate, finality);
      console.log(
        `${rate} events a second, ${finality}: ${cosigned} cosigned, ${percent(unfetched, cosigned)} % without a read of the log, ${percent(atOnce, cosigned)} % at the first offer`,
      );
      expect(cosigned).toBeGreaterThan(SLOTS / 20);
      expect(percent(unfetched, cosigned)).toBeGreaterThanOrEqual(least);
    }
  },
  60_000,
);
