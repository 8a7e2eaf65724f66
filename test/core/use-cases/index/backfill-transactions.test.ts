import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import {
  BackfillPace,
  backfillTransactions,
} from "../../../../core/use-cases/index/sync/events/backfill-transactions.ts";
import {
  type BackfillCheckpoint,
  BackfillCheckpoints,
} from "../../../../ports/index/index-writer.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { PagingLedger, signatureOfEvent } from "../../../simulation/paging-ledger.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { openIndexOfNode } from "../../../simulation/index-of-node.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import type { RpcCall, RpcAnswer } from "../../../world/rpc-answer.ts";

const folder = mkdtempSync(join(tmpdir(), "settlement-backfill-"));
afterAll(() => rmSync(folder, { recursive: true }));
const ESCROWS = 600;

const world = async (
  transactions: boolean,
  spoil: (call: RpcCall) => RpcAnswer | null = () => null,
) => {
  const node = new ChainNode(new PagingLedger(ESCROWS), { pages: false, transactions });
  const server = serveNode((call) => spoil(call) ?? node.answer(call));
  const index = await openIndexOfNode({
    url: server.url,
    path: `${mkdtempSync(join(folder, "index-"))}/index.sqlite`,
  });
  expect(Exit.isSuccess(await index.sync())).toBe(true);
  for (const method of Object.keys(node.asked)) node.asked[method] = 0;
  const saved: Array<BackfillCheckpoint> = [];
  const run = () =>
    index.run(
      Effect.provideService(backfillTransactions(), BackfillCheckpoints, {
        load: Effect.sync(() => saved.at(-1) ?? null),
        save: (checkpoint) => Effect.sync(() => void saved.push(checkpoint)),
      }),
    );
  /** The events whose transaction is known. */
  const known = async () => {
    const events = await index.run(
      IndexReader.use((reader) => reader.events({}, 5000, { after: 0n })),
    );
    if (Exit.isFailure(events)) throw new Error("no events");
    return events.value.filter((one) => one.signature !== null);
  };
  const close = async () => {
    await index.close();
    server[Symbol.dispose]();
  };
  return { node, run, saved, known, close, events: Number(node.chain.count) };
};

const expectAllKnown = async ({ known, events }: Awaited<ReturnType<typeof world>>) => {
  const all = await known();
  expect(all.length).toBe(events);
  for (const { position, signature } of all)
    expect(signature).toBe(signatureOfEvent(Number(position)));
};

describe("the search for the transactions of old events", () => {
  test("takes them a hundred at a time where a provider offers that", async () => {
    const one = await world(true);
    expect(Exit.isSuccess(await one.run())).toBe(true);
    await expectAllKnown(one);
    expect(one.node.asked["getTransactionsForAddress"]).toBe(Math.ceil(one.events / 100));
    expect(one.node.asked["getTransaction"] ?? 0).toBe(0);
    expect(one.saved.at(-1)).toMatchObject({ way: "archive", isDone: true });
    await one.close();
  }, 120_000);

  test("walks the classic history once, with one request for each event", async () => {
    const one = await world(false);
    expect(Exit.isSuccess(await one.run())).toBe(true);
    await expectAllKnown(one);
    expect(one.node.asked["getTransactionsForAddress"]).toBe(1);
    expect(one.node.asked["getTransaction"]).toBe(one.events);
    expect(one.node.asked["getSignaturesForAddress"]).toBe(Math.ceil(one.events / 1000) + 1);
    expect(one.saved.at(-1)).toMatchObject({ way: "history", isDone: true });
    await one.close();
  }, 120_000);

  test("goes on from its checkpoint after it was cut off", async () => {
    let pages = 0;
    const refused: RpcAnswer = { error: { code: -32_602, message: "over" } };
    const one = await world(true, ({ method }) => {
      if (method !== "getTransactionsForAddress") return null;
      pages += 1;
      return pages === 4 ? refused : null;
    });
    expect(Exit.isFailure(await one.run())).toBe(true);
    expect(one.saved).toHaveLength(3);
    expect((await one.known()).length).toBeGreaterThanOrEqual(300);
    expect(Exit.isSuccess(await one.run())).toBe(true);
    expect(pages).toBe(Math.ceil(one.events / 100) + 1);
    await expectAllKnown(one);
    await one.close();
  }, 120_000);

  test("does nothing when few events lack their transaction", async () => {
    const one = await world(true);
    await one.run();
    one.saved.length = 0;
    for (const method of Object.keys(one.node.asked)) one.node.asked[method] = 0;
    expect(Exit.isSuccess(await one.run())).toBe(true);
    expect(Object.values(one.node.asked).every((count) => count === 0)).toBe(true);
    await one.close();
  }, 120_000);
});

test("a backfill takes more of a node that answers, and half as much after a failure", () => {
  const pace = new BackfillPace();
  const steps = Array.from({ length: 40 }, () => {
    pace.succeeded(100);
    return pace.atOnce;
  });
  expect(steps.slice(0, 3)).toEqual([5, 6, 7]);
  expect(steps.at(-1)).toBe(32);
  expect(pace.succeeded(100)).toBe(25);
  expect([pace.failed(), pace.failed(), pace.failed()]).toEqual([1000, 2000, 4000]);
  expect(pace.atOnce).toBe(4);
  expect(Array.from({ length: 9 }, () => pace.failed()).at(-1)).toBe(60_000);
  expect(pace.atOnce).toBe(1);
  pace.succeeded(4);
  expect(pace.failed()).toBe(1000);
});
