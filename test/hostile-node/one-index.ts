import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Cause, Exit } from "effect";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import type { Scenario } from "./scenario.ts";

/** The value of an exit. @throws Error with the cause of a failure. */
export const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
  return exit.value;
};

/** A scenario of one test. */
export const scenarioOfTest = (does: string, play: Scenario["play"]): Scenario => ({
  name: "of-one-test",
  does,
  isUsual: false,
  play,
});

/** A world, a node before it that is honest at first, and one index file, which `open` opens as a new process would. */
export const oneIndexBehind = (scenario: Scenario, escrows: number) => {
  const world = worldOf(escrows);
  const node = hostileNode({ backend: worldBackend(world), scenario, seed: 1 });
  node.setHostile(false);
  const folder = mkdtempSync(join(tmpdir(), "hostile-node-"));
  return {
    world,
    node,
    /** Some slots with one more escrow. */
    advance: (): void => {
      world.slot += 10n;
      world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
      world.slot += 10n;
    },
    open: () =>
      openIndexOfNode({
        url: node.url,
        path: join(folder, "index.sqlite"),
        waits: SHORT_WAITS,
        behindPatienceMs: 100,
      }),
    [Symbol.dispose]: (): void => {
      node[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
