import { expect } from "bun:test";
import { ChainNode } from "../../../world/chain-node.ts";
import { repeating } from "../../../world/node-faults.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { worldOf } from "../../../simulation/world.ts";
import { randomOf, SEED, tell, freshPath } from "../chaos-run.ts";
import { drawAim, type Ended, type Moment, momentOf, runUntil } from "./killed-process.ts";
import { dirname } from "node:path";

/** A script and its imports bundled into one file, which starts in a third of the time. */
const bundled = async (script: string): Promise<string> => {
  const outdir = dirname(freshPath("script.js"));
  const { outputs } = await Bun.build({ entrypoints: [script], target: "bun", outdir });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${script} gave no bundle`);
  return output.path;
};

/** So many of the planned kills must hit a sync inside a batch, as a share. */
const LEAST_IN_A_BATCH = 0.25;
/** Where the machine is so busy that most kills come behind the batch that they aim at, more are made, up to this. */
const MOST_FOR_ONE_PLANNED = 20;
const ESCROWS = 1500;
const SETTLED = 100;

/** The world before a store's first sync, or before its second one, which follows a hundred settlements. */
const worldBefore = (sync: "first" | "second") => {
  const node = worldOf(ESCROWS);
  if (sync === "first") return node;
  node.slot += 50n;
  for (let number = 0; number < SETTLED; number++)
    node.putEscrow(refundedOf(worldEscrow(4 * number)));
  node.slot += 50n;
  return node;
};

type Plan = {
  /** Run as a process with the addresses of a node and a store: syncs once, prints its steps, and exits with 0. */
  readonly script: string;
  readonly kills: number;
  readonly mostKillsASync: number;
  /** Stores that are killed at the same time. */
  readonly atOnce: number;
  /** The address of an empty store. */
  readonly newStore: () => string;
  /** The whole content of a store as text. */
  readonly dumpOf: (store: string) => string | Promise<string>;
  /** Checks a store that a killed process left. */
  readonly expectWhole: (store: string, moment: Moment, when: string) => Promise<void>;
};

/**
 * Syncs stores twice. Each sync runs in processes that are killed with SIGKILL, and then in one that is not. Checks
 * that each store is whole after each kill, and in the end equals a store that was never killed. It goes on until
 * enough kills have hit a batch.
 */
export const killSyncs = async (plan: Plan): Promise<void> => {
  using first = serveNode(repeating(new ChainNode(worldBefore("first")).answer));
  using second = serveNode(repeating(new ChainNode(worldBefore("second")).answer));
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
        // The process was faster than the kill.
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
  const isBatchHit = (): boolean => (met.get("in a batch") ?? 0) >= plan.kills * LEAST_IN_A_BATCH;
  const isOver = (): boolean =>
    (killed >= plan.kills && isBatchHit()) || killed >= MOST_FOR_ONE_PLANNED * plan.kills;
  const worker = async (name: number): Promise<void> => {
    const random = randomOf(`kill ${name}`);
    while (!isOver()) await killIn(plan.newStore(), (stores += 1), random);
  };
  await Promise.all(Array.from({ length: plan.atOnce }, (_, name) => worker(name)));
  const moments = [...met].map(([moment, times]) => `${times} ${moment}`).sort();
  tell(
    `${killed} kills (${moments.join(", ")}) in ${stores} stores: whole, and at the end equal to the uninterrupted one`,
  );
  expect({ moments, isBatchHit: isBatchHit() }).toEqual({ moments, isBatchHit: true });
};
