import { expect, test } from "bun:test";
import { Exit } from "effect";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { worldMerchant } from "../simulation/world-escrow.ts";
import { worldBackend } from "./backends.ts";
import { oneIndexBehind, scenarioOfTest, valueOf } from "./one-index.ts";
import { resultOf } from "../world/rpc-answer.ts";

// What lies leave behind once the node is honest again, for ever.

type Index = Awaited<ReturnType<ReturnType<typeof oneIndexBehind>["open"]>>;

const statusOf = async (index: Index, address: string) =>
  valueOf(await index.run(IndexReader.use((store) => store.merchants({}, 1000, null)))).find(
    ({ merchant }) => merchant.address === address,
  )?.merchant.status;

type Account = { readonly context: { readonly slot: number }; readonly value: Array<unknown> };
const merchant = worldMerchant(3);
const suspended = {
  ...merchant,
  status: "Suspended" as const,
  updatedAt: merchant.updatedAt + 5n,
};

test("an old merchant account under a slot that is a little too high is mended by a later scan", async () => {
  let lies = 0;
  let old: unknown = null;
  const scenario = scenarioOfTest(
    "shows an old merchant once, under a false slot",
    ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        const asked = call.params[0];
        const at = Array.isArray(asked) ? asked.indexOf(merchant.address) : -1;
        if (call.method !== "getMultipleAccounts" || at < 0 || lies > 0) return answer;
        lies += 1;
        const { context, value } = resultOf(answer) as Account;
        return {
          result: {
            context: { slot: context.slot + 9_000 },
            value: value.map((account, n) => (n === at ? old : account)),
          },
        };
      },
  );
  using place = oneIndexBehind(scenario, 12);
  const { world, node } = place;
  const index = await place.open();
  try {
    valueOf(await index.sync());
    const params = [[merchant.address], { encoding: "base64" }];
    const call = { id: 1, method: "getMultipleAccounts", params };
    old = (resultOf(await worldBackend(world).answer(call)) as Account).value[0];
    world.slot += 20n;
    world.changeMerchant(suspended);
    world.slot += 20n;
    node.setHostile(true);
    await index.sync();
    expect(lies).toBe(1);
    node.setHostile(false);
  } finally {
    await index.close();
  }
  const next = await place.open();
  try {
    for (let n = 0; n < 3; n++) {
      world.slot += 400n;
      place.advance();
      valueOf(await next.run(IndexSync.use(({ snapshot }) => snapshot)));
    }
    expect(await statusOf(next, merchant.address)).toBe("Suspended");
  } finally {
    await next.close();
  }
}, 60_000);

test("a transaction that a signal told of, and that a list calls failed, is read all the same", async () => {
  const scenario = scenarioOfTest(
    "lists every transaction as failed",
    ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getSignaturesForAddress" || "error" in answer) return answer;
        const err = { InstructionError: [0, { Custom: 6000 }] };
        return { result: (resultOf(answer) as Array<object>).map((one) => ({ ...one, err })) };
      },
  );
  using place = oneIndexBehind(scenario, 12);
  const { world, node } = place;
  const index = await place.open();
  try {
    valueOf(await index.sync());
    node.setHostile(true);
    world.slot += 20n;
    world.changeMerchant(suspended);
    const landed = world.transactions.at(-1);
    if (landed === undefined) throw new Error("no transaction");
    const names = LOCAL_DEPLOYMENT.attestorProgram;
    const told = { signature: landed.signature, slot: landed.slot, names };
    valueOf(await index.run(IndexSync.use((sync) => sync.told(told))));
    for (let n = 0; n < 8; n++) {
      world.slot += 100n;
      if (n === 2) node.setHostile(false);
      valueOf(await index.sync());
    }
    expect(await statusOf(index, merchant.address)).toBe("Suspended");
  } finally {
    await index.close();
  }
}, 60_000);

test("no event keeps the slot of a transaction that was shown under another slot than it was listed", async () => {
  const scenario = scenarioOfTest(
    "shows transactions under another slot than it lists them",
    ({ backend }) =>
      async (call) => {
        const answer = await backend.answer(call);
        if (call.method !== "getTransaction" || "error" in answer || answer.result === null)
          return answer;
        return { result: { ...(answer.result as object), slot: 7 } };
      },
  );
  using place = oneIndexBehind(scenario, 4);
  const index = await place.open();
  try {
    await index.sync();
    place.node.setHostile(true);
    place.advance();
    await index.sync();
    place.node.setHostile(false);
    for (let n = 0; n < 3; n++) {
      place.advance();
      await index.sync();
    }
    const all = IndexReader.use((store) => store.events({}, 100, { after: 0n }));
    const slots = valueOf(await index.run(all)).map(({ slot }) => slot);
    expect(slots.length).toBeGreaterThan(4);
    expect(slots).not.toContain(7n);
  } finally {
    await index.close();
  }
}, 60_000);

test("false slots of several processes do not add up: an honest node is believed once it has passed the one that was taken", async () => {
  let offset = 0;
  const isSlotted = (result: unknown): result is Account =>
    typeof result === "object" && result !== null && "context" in result;
  const lowered = (one: unknown) =>
    typeof one === "object" && one !== null && "minContextSlot" in one
      ? { ...one, minContextSlot: Math.max(0, Number(one.minContextSlot) - offset) }
      : one;
  const scenario = scenarioOfTest("adds to every slot", ({ backend }) => async (call) => {
    const answer = await backend.answer({ ...call, params: call.params.map(lowered) });
    if ("error" in answer) return answer;
    const result = resultOf(answer);
    if (call.method === "getEpochInfo") {
      const info = result as { readonly absoluteSlot: number };
      return { result: { ...info, absoluteSlot: info.absoluteSlot + offset } };
    }
    if (!isSlotted(result)) return { result };
    const context = { ...result.context, slot: result.context.slot + offset };
    return { result: { ...result, context } };
  });
  using place = oneIndexBehind(scenario, 4);
  const { world, node } = place;
  const sync = async () => {
    const index = await place.open();
    const exit = await index.sync();
    await index.close();
    return exit;
  };
  valueOf(await sync());
  node.setHostile(true);
  const believed: Array<number> = [];
  for (let lie = 0; lie < 6; lie++) {
    offset += 900_000;
    place.advance();
    if (Exit.isSuccess(await sync())) believed.push(offset);
  }
  expect(believed).toEqual([900_000]);
  node.setHostile(false);
  world.slot += 950_000n;
  place.advance();
  valueOf(await sync());
}, 60_000);
