import { expect, test } from "bun:test";
import { worldOf } from "../simulation/world.ts";
import { pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldBackend } from "./backends.ts";
import { hostileNode } from "./hostile-node.ts";
import { scenarioOf, SCENARIOS } from "./scenarios.ts";
import { parseExactly, printExactly } from "../world/rpc-answer.ts";

const ask = async (url: string, method: string, params: ReadonlyArray<unknown> = []) => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  return (await (await fetch(url, { method: "POST", body })).json()) as {
    readonly id: number;
    readonly result?: { readonly absoluteSlot?: number; readonly value?: unknown };
  };
};

test("numbers beyond 2^53 pass through unchanged", () => {
  const text = '{"rentEpoch":18446744073709551615,"slot":12,"text":": 1844674407370955161"}';
  expect(printExactly(parseExactly(text))).toBe(text);
});

test("scenarios have names of their own", () => {
  expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
});

test("the same seed gives the same lags, and a healed node lags no more", async () => {
  const lags = async (): Promise<ReadonlyArray<number>> => {
    const world = worldOf(4);
    const scenario = scenarioOf("lagging-pool-10");
    using node = hostileNode({ backend: worldBackend(world), scenario, seed: 3 });
    for (let n = 0; n < 20; n++) world.slot += 1n;
    const told: Array<number> = [];
    const look = async () =>
      told.push(
        Number(world.slot) - ((await ask(node.url, "getEpochInfo")).result?.absoluteSlot ?? 0),
      );
    for (let n = 0; n < 30; n++) await look();
    node.setHostile(false);
    await look();
    return told;
  };
  const first = await lags();
  expect(first).toEqual(await lags());
  expect(first.at(-1)).toBe(0);
  expect(Math.max(...first)).toBeGreaterThan(5);
  expect(Math.max(...first)).toBeLessThanOrEqual(10);
});

test("a backend that lags does not know what happened since", async () => {
  const world = worldOf(4);
  const backend = worldBackend(world);
  world.slot += 3n;
  const { address } = worldEscrow(4);
  world.putEscrow(pendingOf(worldEscrow(4)));
  world.slot += 3n;
  const shown = async (lag: number) => {
    const call = { id: 1, method: "getMultipleAccounts", params: [[address], {}] };
    return JSON.stringify(await backend.answer(call, lag)).includes('\\"value\\":[null]');
  };
  expect([await shown(0), await shown(2), await shown(4)]).toEqual([false, false, true]);
});

test("subscribers hear of transactions that name what they asked for", async () => {
  const world = worldOf(1);
  const scenario = scenarioOf("honest");
  using node = hostileNode({ backend: worldBackend(world), scenario, seed: 1 });
  const socket = new WebSocket(node.webSocketUrl);
  const heard: Array<string> = [];
  const next = () =>
    new Promise<void>((resolve) =>
      socket.addEventListener("message", ({ data }) => resolve(void heard.push(String(data))), {
        once: true,
      }),
    );
  await new Promise((opened) => socket.addEventListener("open", opened));
  const subscribed = next();
  socket.send(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "logsSubscribe",
      params: [{ mentions: [worldEscrow(4).address] }, { commitment: "finalized" }],
    }),
  );
  await subscribed;
  const notified = next();
  world.putEscrow(worldEscrow(8));
  world.putEscrow(worldEscrow(4));
  await notified;
  socket.close();
  expect(heard).toHaveLength(2);
  expect(heard[1]).toContain(world.transactions.at(-1)?.signature ?? "no signature");
  expect(heard[1]).toContain('"method":"logsNotification"');
});
