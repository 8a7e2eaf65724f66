import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Cause, Exit } from "effect";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { worldBackend } from "../hostile-node/backends.ts";
import { SHORT_WAITS } from "../hostile-node/endure.ts";
import { hostileNode } from "../hostile-node/hostile-node.ts";
import type { Scenario } from "../hostile-node/scenario.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";

test("an event's slot is not one that contradicts the list of the same node", async () => {
  const scenario: Scenario = {
    name: "slots",
    does: "shows transactions under another slot than it lists them",
    isUsual: false,
    play:
      ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getTransaction" || "error" in answer || answer.result === null)
          return answer;
        return { result: { ...(answer.result as object), slot: 7 } };
      },
  };
  const world = worldOf(4);
  using node = hostileNode({ backend: worldBackend(world), scenario, seed: 1 });
  const folder = mkdtempSync(join(tmpdir(), "hostile6-"));
  const index = await openIndexOfNode({
    url: node.url,
    path: join(folder, "i.sqlite"),
    waits: SHORT_WAITS,
    behindPatienceMs: 100,
  });
  try {
    node.setHostile(false);
    await index.sync();
    node.setHostile(true);
    world.slot += 10;
    world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
    world.slot += 5;
    await index.sync();
    node.setHostile(false); // honest for ever
    for (let n = 0; n < 3; n++) {
      world.slot += 10;
      world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
      await index.sync();
    }
    const exit = await index.run(IndexReader.use((store) => store.events({}, 100, { after: 0n })));
    if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
    expect(exit.value.filter((event) => event.slot === 7n)).toEqual([]);
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
