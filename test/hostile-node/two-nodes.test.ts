import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Cause, Exit } from "effect";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { expectIndexOf } from "../chaos/support/expect-index.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { scenarioOf } from "./scenarios.ts";

for (const name of ["contradicts-for-ever", "genesis-swap"])
  test(`behind a first node that plays ${name}, a second, honest one keeps the index up`, async () => {
    const world = worldOf(12);
    const scenario = scenarioOf(name);
    scenario.prepare?.(world, () => 0);
    const backend = worldBackend(world);
    using first = hostileNode({ backend, scenario, seed: 1 });
    using second = hostileNode({ backend, scenario: scenarioOf("honest"), seed: 1 });
    first.setHostile(false);
    const folder = mkdtempSync(join(tmpdir(), "settlement-two-nodes-"));
    const path = join(folder, "index.sqlite");
    const waits = SHORT_WAITS;
    const index = await openIndexOfNode({ url: first.url, others: [second.url], path, waits });
    try {
      expect(Exit.isSuccess(await index.sync())).toBe(true);
      first.setHostile(true);
      for (let number = 0; number < 12; number += 4) {
        world.slot += 10n;
        world.putEscrow(refundedOf(worldEscrow(number)));
        world.slot += 10n;
        const exit = await index.sync();
        if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
      }
      expect(first.requests()).toBeGreaterThan(0);
      const activity = await index.run(IndexSync.use((sync) => sync.activity));
      if (Exit.isFailure(activity)) throw new Error("no activity");
      expect(activity.value.contradictedAnswers).toBe(name === "contradicts-for-ever" ? 1 : 0);
      await index.close();
      await expectIndexOf(path, world);
    } finally {
      await index.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
