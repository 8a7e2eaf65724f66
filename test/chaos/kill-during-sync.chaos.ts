import { expect, test } from "bun:test";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";

const KILLS = amountOf({ quick: 8, long: 500 });
const ESCROWS = 3000;
const SCRIPT = `${import.meta.dir}/support/sync-until-killed.ts`;

/** Begins a sync in a process of its own, kills it `afterMs` later, and gives its exit code, null when it was killed. */
const syncFor = async (url: string, path: string, afterMs: number): Promise<number | null> => {
  const child = Bun.spawn([process.execPath, SCRIPT, url, path], {
    stdout: "pipe",
    stderr: "inherit",
  });
  for await (const _ of child.stdout) break;
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  await child.exited;
  clearTimeout(timer);
  return child.exitCode;
};

/** What a store holds that was synced twice, the second time after some escrows were settled, and never killed. */
const uninterrupted = async (url: string, change: () => void) => {
  const path = freshPath("reference.sqlite");
  const index = await openIndexOfNode({ url, path });
  const startMs = performance.now();
  await index.sync();
  const syncMs = performance.now() - startMs;
  change();
  await index.sync();
  await index.close();
  return { dump: dumpOfIndex(path), syncMs };
};

test(
  "killed at any moment of a sync, the index ends as if it had never been",
  async () => {
    const random = randomOf("kill");
    const world = () => {
      const node = worldOf(ESCROWS);
      const change = () => {
        node.slot += 50;
        for (let number = 0; number < 400; number += 4)
          node.putEscrow(refundedOf(worldEscrow(number)));
        node.slot += 50;
      };
      return { node, change };
    };
    const first = world();
    using firstNode = serveNode(({ method, params }) => first.node.answer(method, params));
    const reference = await uninterrupted(firstNode.url, first.change);

    const tally = { killed: 0, stores: 0 };
    while (tally.killed < KILLS) {
      tally.stores += 1;
      const path = freshPath("killed.sqlite");
      const { node, change } = world();
      using served = serveNode(({ method, params }) => node.answer(method, params));
      const endsOf = async (): Promise<void> => {
        for (;;) {
          // Some of the delays let it finish: the store is then killed in the sync that comes after.
          const code = await syncFor(served.url, path, random() * reference.syncMs * 2);
          if (code === 0) return;
          tally.killed += 1;
          expect(code, `seed ${SEED}, kill ${tally.killed}`).not.toBe(1);
          dumpOfIndex(path);
        }
      };
      await endsOf();
      change();
      await endsOf();
      expect(dumpOfIndex(path) === reference.dump, `seed ${SEED}, store ${tally.stores}`).toBe(
        true,
      );
    }
    tell(
      `${tally.killed} kills in ${tally.stores} stores: every one whole, and equal to the uninterrupted one`,
    );
  },
  LONG_MS,
);
