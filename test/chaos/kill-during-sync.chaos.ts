import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { bundled } from "./support/bundled.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { expectWholeBatches } from "./support/expect-whole-batches.ts";
import { drawAim, type Ended, type Moment, momentOf, runUntil } from "./support/killed-process.ts";
import { serveStatic } from "./support/static-node.ts";

const KILLS = amountOf({ quick: 12, long: 500 });
/** The least share of the kills that must meet a sync while it writes a batch; the others show what is around it. */
const LEAST_IN_A_BATCH = 0.25;
const MOST_KILLS_A_SYNC = 16;
/** Stores that are being killed at the same time. */
const AT_ONCE = 2;
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

/** The files of a store as a killed process left them, at another path: whoever opens them there leaves these alone. */
const copyOf = (path: string): string => {
  const copy = freshPath("copy.sqlite");
  mkdirSync(dirname(copy), { recursive: true });
  for (const part of ["", "-wal", "-journal"])
    if (existsSync(path + part)) copyFileSync(path + part, copy + part);
  return copy;
};

/** SQLite finds what a killed process left whole, and a reader finds no part of a batch. */
const expectWhole = async (path: string, moment: Moment, when: string): Promise<void> => {
  if (!existsSync(path)) return;
  const copy = copyOf(path);
  using db = new Database(copy);
  expect(db.query("PRAGMA integrity_check").all(), when).toEqual([{ integrity_check: "ok" }]);
  if (moment !== "in a batch") return;
  const index = await openIndexOfNode({ url: "http://127.0.0.1:9", path: copyOf(path) });
  await expectWholeBatches(index, when);
  await index.close();
};

test(
  "killed at any moment of a sync, the index ends as if it had never been",
  async () => {
    using first = serveStatic(worldBefore("first"));
    using second = serveStatic(worldBefore("second"));
    const script = await bundled(`${import.meta.dir}/support/sync-until-killed.ts`);
    const syncs = [first, second].map(({ url }) => (path: string) => [script, url, path]);
    const reference = freshPath("reference.sqlite");
    const wholes: Array<Ended> = [];
    for (const sync of syncs) wholes.push(await runUntil(sync(reference), null));
    expect(wholes.map(({ code }) => code)).toEqual([0, 0]);
    const expected = dumpOfIndex(reference);

    const met = new Map<Moment, number>();
    let killed = 0;
    let stores = 0;
    const lane = async (name: number): Promise<void> => {
      const random = randomOf(`kill ${name}`);
      while (killed < KILLS) {
        const store = (stores += 1);
        const path = freshPath("killed.sqlite");
        for (const [at, sync] of syncs.entries()) {
          const whole = wholes[at];
          if (whole === undefined) throw new Error("each sync ran once without being killed");
          for (let kills = Math.floor(random() * MOST_KILLS_A_SYNC); kills > 0; kills--) {
            const ended = await runUntil(sync(path), drawAim(random, whole));
            // It was faster than the kill.
            if (ended.code === 0) break;
            expect(ended.code, `seed ${SEED}, store ${store}`).toBeNull();
            killed += 1;
            const moment = momentOf(ended);
            met.set(moment, (met.get(moment) ?? 0) + 1);
            await expectWhole(path, moment, `seed ${SEED}, store ${store}, kill ${killed}`);
          }
          const { code } = await runUntil(sync(path), null);
          expect(code, `seed ${SEED}, store ${store}`).toBe(0);
        }
        expect(dumpOfIndex(path) === expected, `seed ${SEED}, store ${store}`).toBe(true);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, name) => lane(name)));
    const moments = [...met].map(([moment, times]) => `${times} ${moment}`).sort();
    tell(
      `${killed} kills (${moments.join(", ")}) in ${stores} stores: whole, and at the end equal to the uninterrupted one`,
    );
    expect(met.get("in a batch") ?? 0).toBeGreaterThanOrEqual(killed * LEAST_IN_A_BATCH);
  },
  LONG_MS,
);
