import { expect, test } from "bun:test";
import { totalOf } from "./call-count.ts";
import { costText, type LifeCost, lifeTotal, payOnce } from "./payment-life.ts";
import { type VirtualService, withVirtualService } from "./virtual-service.ts";

/** The most calls of a node for one payment, from its preparation until its packet is served and all is final. */
const A_LIFE = 25;
/** The calls of the look that a service at rest takes every three minutes: one may fall into a life. */
const A_LOOK = 4;
/** The most calls of a node in an hour of a service that nobody asks for anything. */
const AN_HOUR_AT_REST = 240;

const HOUR_MS = 3_600_000;

type Events = { readonly data: ReadonlyArray<{ readonly signature: string | null }> };

/**
 * Lets the start end: it reads the transactions of the demo's old events, on a busy machine for longer than its clock
 * says.
 */
const settled = async ({ sleep, ask }: VirtualService): Promise<void> => {
  for (;;) {
    await sleep(60_000);
    const { data } = (await (await ask("/v1/indexer/events?limit=100")).json()) as Events;
    if (data.length > 0 && data.every(({ signature }) => signature !== null)) return;
  }
};

test("a payment's life and an hour at rest ask the node no more often than docs/nodes.md says", async () => {
  const { lives, rest, scraped, all } = await withVirtualService(async (service) => {
    await settled(service);
    await (await service.ask("/metrics")).text();
    const each: Array<LifeCost> = [];
    for (const nonce of ["first", "second"]) {
      each.push(await payOnce(service, nonce));
      await service.sleep(90_000);
    }
    const text = await (await service.ask("/metrics")).text();
    const before = service.calls.all;
    service.stepMs = 200;
    service.calls.take();
    await service.sleep(HOUR_MS);
    return { lives: each, rest: service.calls.take(), scraped: text, all: before };
  });
  const counted = [...scraped.matchAll(/^\S*ledger_calls_total\{(.*)\} (\d+)$/gm)];
  expect(counted.reduce((sum, [, , calls]) => sum + Number(calls), 0)).toBe(all);
  const purposes = new Set(counted.map(([, labels]) => /purpose="(\w+)"/.exec(labels ?? "")?.[1]));
  expect(purposes).toEqual(new Set(["relay", "request", "status", "sync"]));
  // Four events of two escrows, and the time between their lives.
  const perEvent = Number(/^\S*ledger_calls_per_event (\S+)$/m.exec(scraped)?.[1]);
  expect([perEvent > A_LIFE / 4, perEvent < A_LIFE]).toEqual([true, true]);
  const texts = lives.map(costText);
  for (const life of lives)
    expect([lifeTotal(life) <= A_LIFE + A_LOOK, texts]).toEqual([true, texts]);
  expect([Math.min(...lives.map(lifeTotal)) <= A_LIFE, texts]).toEqual([true, texts]);
  const told = [...rest].map(([method, count]) => `${method} ${count}`).join(", ");
  expect([totalOf(rest) <= AN_HOUR_AT_REST, told]).toEqual([true, told]);
  if (process.env["TELL_CALLS"] === "true")
    console.log([...texts, `at rest: ${totalOf(rest)}: ${told}`].join("\n\n"));
}, 60_000);
