import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Cause, Effect, Exit } from "effect";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { SHORT_WAITS } from "../hostile-node/endure.ts";
import { worldBackend } from "../hostile-node/backends.ts";
import { hostileNode } from "../hostile-node/hostile-node.ts";
import type { Scenario } from "../hostile-node/scenario.ts";
import { parseExactly } from "../hostile-node/exact-json.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { worldMerchant, pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { JsonText } from "../simulation/world-node.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";

type Index = Awaited<ReturnType<typeof openIndexOfNode>>;
const get = async <A, E>(index: Index, effect: Effect.Effect<A, E, IndexReader>) => {
  const exit = await index.run(effect);
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
  return exit.value;
};
const rowOf = async (index: Index, address: string) =>
  (
    await get(
      index,
      IndexReader.use((store) => store.merchants({}, 1000, null)),
    )
  ).find(({ merchant }) => merchant.address === address)?.merchant;
const resultOf = (answer: unknown) => {
  const { result } = answer as { result: unknown };
  return result instanceof JsonText ? parseExactly(result.text) : result;
};

const setUp = (scenario: Scenario) => {
  const world = worldOf(12);
  const node = hostileNode({ backend: worldBackend(world), scenario, seed: 1 });
  const folder = mkdtempSync(join(tmpdir(), "hostile6-"));
  const open = () =>
    openIndexOfNode({
      url: node.url,
      path: join(folder, "i.sqlite"),
      waits: SHORT_WAITS,
      behindPatienceMs: 100,
    });
  return {
    world,
    node,
    open,
    end: () => {
      node[Symbol.dispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
const ok = (exit: Exit.Exit<unknown, unknown>) => {
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
};

test("one old merchant account under a slightly high slot: a later, honest scan mends the row", async () => {
  let lies = 0;
  let old: unknown = null;
  const first = worldMerchant(3);
  const scenario: Scenario = {
    name: "x",
    does: "x",
    isUsual: false,
    play:
      ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getMultipleAccounts") return answer;
        const { context, value } = resultOf(answer) as {
          context: { slot: number };
          value: Array<unknown>;
        };
        const asked = call.params[0] as ReadonlyArray<string>;
        const at = asked.indexOf(first.address);
        if (at < 0 || lies > 0) return answer;
        lies += 1;
        return {
          result: {
            context: { slot: context.slot + 9_000 },
            value: value.map((v, i) => (i === at ? old : v)),
          },
        };
      },
  };
  const { world, node, open, end } = setUp(scenario);
  let index = await open();
  try {
    node.setHostile(false);
    ok(await index.sync());
    expect(await rowOf(index, first.address)).toBeDefined();
    const backend = worldBackend(world);
    old = (
      resultOf(
        await backend.answer({
          id: 1,
          method: "getMultipleAccounts",
          params: [[first.address], { encoding: "base64" }],
        } as never),
      ) as { value: Array<unknown> }
    ).value[0];
    world.slot += 20;
    world.changeMerchant({ ...first, status: "Suspended", updatedAt: first.updatedAt + 5n });
    world.slot += 20;
    node.setHostile(true);
    await index.sync();
    expect(lies).toBe(1);
    node.setHostile(false);
    await index.close();
    index = await open(); // a new process: nothing of the lie is in memory
    for (let n = 0; n < 3; n++) {
      world.slot += 400;
      world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
      ok(await index.run(IndexSync.use(({ snapshot }) => snapshot)));
    }
    expect((await rowOf(index, first.address))?.status).toBe("Suspended");
  } finally {
    await index.close();
    end();
  }
}, 60_000);

test("a transaction that a signal told of and that the list calls failed is not forgotten", async () => {
  const first = worldMerchant(3);
  const scenario: Scenario = {
    name: "y",
    does: "y",
    isUsual: false,
    play:
      ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getSignaturesForAddress" || "error" in answer) return answer;
        return {
          result: (answer.result as Array<object>).map((one) => ({
            ...one,
            err: { InstructionError: [0, { Custom: 6000 }] },
          })),
        };
      },
  };
  const { world, node, open, end } = setUp(scenario);
  const index = await open();
  try {
    node.setHostile(false);
    ok(await index.sync());
    node.setHostile(true);
    world.slot += 20;
    world.changeMerchant({ ...first, status: "Suspended", updatedAt: first.updatedAt + 5n });
    const landed = world.history.at(-1);
    if (landed === undefined) throw new Error("none");
    const { LOCAL_DEPLOYMENT } = await import("../../core/protocol/addresses/local-deployment.ts");
    ok(
      await index.run(
        IndexSync.use(({ told }) =>
          told({
            signature: landed.signature,
            slot: BigInt(landed.slot),
            names: LOCAL_DEPLOYMENT.attestorProgram,
          }),
        ),
      ),
    );
    for (let n = 0; n < 8; n++) {
      world.slot += 100;
      if (n === 2) node.setHostile(false); // one or two false lists, then honest for ever
      ok(await index.sync());
    }
    expect((await rowOf(index, first.address))?.status).toBe("Suspended");
  } finally {
    await index.close();
    end();
  }
}, 60_000);
