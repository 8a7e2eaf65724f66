import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS, tell } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { keepReading, serviceOn } from "./support/service-on-node.ts";

const LOCKED_MS = amountOf({ quick: 1_500, long: 10_000 });
const MOST_STALL_MS = 100;

/** The longest that the event loop kept a timer waiting. */
const watchStalls = () => {
  let longestMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }, 1);
  return () => {
    clearInterval(timer);
    return longestMs;
  };
};

test(
  "while another process holds the store's lock, syncs are refused and nothing else waits",
  async () => {
    const node = worldOf(100);
    using served = serveNode(({ method, params }) => node.answer(method, params));
    const service = await serviceOn(served.url);
    await service.synced();
    const other = new Database(service.path);
    other.run("BEGIN IMMEDIATE");
    node.slot += 1;
    node.putEscrow(refundedOf(worldEscrow(0)));
    node.slot += 1;

    const stopReading = keepReading(`${service.url}/v1/indexer`);
    const stopWatching = watchStalls();
    const untilMs = performance.now() + LOCKED_MS;
    let refused = 0;
    while (performance.now() < untilMs) {
      const answer = await fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      refused += 1;
      await Bun.sleep(50);
    }
    const stallMs = stopWatching();
    const { reads, statuses } = await stopReading();
    other.run("ROLLBACK");
    other.close();
    await service.synced();
    await service.stop();
    await expectIndexOf(service.path, node);
    tell(
      `${refused} syncs refused, ${reads} reads; the event loop stood still for ${stallMs.toFixed(0)} ms at most`,
    );
    expect(statuses).toEqual({ 200: reads });
    if (LOCKED_MS >= 10_000) expect(stallMs).toBeLessThan(MOST_STALL_MS);
  },
  LONG_MS,
);
