import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Exit } from "effect";
import { SHORT_WAITS } from "../hostile-node/endure.ts";
import { worldBackend } from "../hostile-node/backends.ts";
import { hostileNode } from "../hostile-node/hostile-node.ts";
import { parseExactly } from "../hostile-node/exact-json.ts";
import type { Scenario } from "../hostile-node/scenario.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { JsonText } from "../simulation/world-node.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";

test("false slots do not add up: after a week of them an honest node is believed within the documented bound", async () => {
  let offset = 0;
  const scenario: Scenario = {
    name: "ratchet",
    does: "adds to every slot",
    isUsual: false,
    play:
      ({ backend }) =>
      async (call) => {
        const params = call.params.map((one) =>
          typeof one === "object" && one !== null && "minContextSlot" in one
            ? {
                ...one,
                minContextSlot: Math.max(
                  0,
                  (one as { minContextSlot: number }).minContextSlot - offset,
                ),
              }
            : one,
        );
        const answer = await backend.answer({ ...call, params });
        if ("error" in answer) return answer;
        const result = (
          answer.result instanceof JsonText ? parseExactly(answer.result.text) : answer.result
        ) as any;
        if (call.method === "getEpochInfo")
          return { result: { ...result, absoluteSlot: result.absoluteSlot + offset } };
        if (result?.context?.slot !== undefined)
          return {
            result: {
              ...result,
              context: { ...result.context, slot: result.context.slot + offset },
            },
          };
        return { result };
      },
  };
  const world = worldOf(4);
  using node = hostileNode({ backend: worldBackend(world), scenario, seed: 1 });
  const folder = mkdtempSync(join(tmpdir(), "hostile6-"));
  const open = () =>
    openIndexOfNode({
      url: node.url,
      path: join(folder, "i.sqlite"),
      waits: SHORT_WAITS,
      behindPatienceMs: 100,
    });
  try {
    const advance = () => {
      world.slot += 10;
      world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
      world.slot += 5;
    };
    const taken: Array<number> = [];
    for (let lie = 0; lie < 6; lie++) {
      offset += 900_000; // below the million that is tolerated "since the last sync"
      advance();
      const index = await open(); // a restart, or two minutes of "behind": what the pool knows of slots is dropped
      if (Exit.isSuccess(await index.sync())) taken.push(offset);
      await index.close();
    }
    node.setHostile(false);
    advance();
    world.slot += 1_000_000; // 4.6 days later
    const index = await open();
    const exit = await index.sync();
    await index.close();
    console.log("believed offsets:", taken);
    expect(Exit.isSuccess(exit)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
