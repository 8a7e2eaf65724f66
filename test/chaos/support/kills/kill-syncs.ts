import { expect } from "bun:test";
import { refundedOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { worldOf } from "../../../simulation/world.ts";
import { bundled } from "../bundled.ts";
import { randomOf, SEED, tell } from "../chaos-run.ts";
import { drawAim, type Ended, type Moment, momentOf, runUntil } from "./killed-process.ts";
import { serveStatic } from "../faults/static-node.ts";

/** The least share of the kills that must meet a sync while it writes a batch; the others show what is around it. */
const LEAST_IN_A_BATCH = 0.25;
const ESCROWS = 1500;
const SETTLED = 100;

/** The world of a store's first sync, or that of its second, which a hundred escrows were settled before. */
const worldBefore = (sync: "first" | "second") => {
  const node = worldOf(ESCROWS);
  if (sync === "first") return node;
  node.slot += 50;
  for (let number = 0; number < SETTLED; number++)
    node.putEscrow(refundedOf(worldEscrow(4 * number)));
  node.slot += 50;
  return node;
};

type Plan = {
  /** Run as a process with a node's and a store's address: syncs once, tells its steps, and ends with 0. */
  readonly script: string;
  readonly kills: number;
  readonly mostKillsASync: number;
  /** Stores that are being killed at the same time. */
  readonly atOnce: number;
  /** The address of a store that nothing is in yet. */
  readonly newStore: () => string;
  /** Everything that a store holds, as one text. */
  readonly dumpOf: (store: string) => string | Promise<string>;
  /** Looks at a store as a killed process left it. */
  readonly expectWhole: (store: string, moment: Moment, when: string) => Promise<void>;
};

/**
 * Has stores synced twice, each by processes that are killed again and again with SIGKILL and by one that is not, and
 * expects each to be whole after each kill, and to end with what a store holds that was never killed. Fails
 * when too few kills met a batch.
 */
export const killSyncs = async (plan: Plan): Promise<void> => {
  using first = serveStatic(worldBefore("first"));
  using second = serveStatic(worldBefore("second"));
  const script = await bundled(plan.script);
  const syncs = [first, second].map(({ url }) => (store: string) => [script, url, store]);
  const reference = plan.newStore();
  const wholes: Array<Ended> = [];
  for (const sync of syncs) wholes.push(await runUntil(sync(reference), null));
  expect(wholes.map(({ code }) => code)).toEqual([0, 0]);
  const expected = await plan.dumpOf(reference);

  const met = new Map<Moment, number>();
  let killed = 0;
  let stores = 0;
  const killIn = async (store: string, number: number, random: () => number): Promise<void> => {
    for (const [at, sync] of syncs.entries()) {
      const whole = wholes[at];
      if (whole === undefined) throw new Error("each sync ran once without being killed");
      for (let kills = Math.floor(random() * plan.mostKillsASync); kills > 0; kills--) {
        const ended = await runUntil(sync(store), drawAim(random, whole));
        // It was faster than the kill.
        if (ended.code === 0) break;
        expect(ended.code, `seed ${SEED}, store ${number}`).toBeNull();
        killed += 1;
        const moment = momentOf(ended);
        met.set(moment, (met.get(moment) ?? 0) + 1);
        await plan.expectWhole(store, moment, `seed ${SEED}, store ${number}, kill ${killed}`);
      }
      const { code } = await runUntil(sync(store), null);
      expect(code, `seed ${SEED}, store ${number}`).toBe(0);
    }
    expect((await plan.dumpOf(store)) === expected, `seed ${SEED}, store ${number}`).toBe(true);
  };
  const isOver = (): boolean => {
    const inBatch = met.get("in a batch") ?? 0;
    if (killed < plan.kills) return false;
    // A few may miss by chance: then more are made, but not without end.
    return inBatch >= killed * LEAST_IN_A_BATCH || killed > 3 * plan.kills;
  };
  const worker = async (name: number): Promise<void> => {
    const random = randomOf(`kill ${name}`);
    while (!isOver()) await killIn(plan.newStore(), (stores += 1), random);
  };
  await Promise.all(Array.from({ length: plan.atOnce }, (_, name) => worker(name)));
  const moments = [...met].map(([moment, times]) => `${times} ${moment}`).sort();
  tell(
    `${killed} kills (${moments.join(", ")}) in ${stores} stores: whole, and at the end equal to the uninterrupted one`,
  );
  expect(met.get("in a batch") ?? 0).toBeGreaterThanOrEqual(killed * LEAST_IN_A_BATCH);
};
