import { Database, SQLiteError } from "bun:sqlite";
import { expect, test } from "bun:test";
import { until } from "../app/support/running-service.ts";
import { ChainNode } from "../world/chain-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS, tell } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { watchStalls } from "./support/event-loop-stalls.ts";
import { keepReading, serviceOn } from "./support/service-on-node.ts";

const LOCKED_MS = amountOf({ quick: 1_500, long: 10_000 });
const MOST_STALL_MS = 100;

/**
 * Other processes can only lengthen a stall, so the round with the shortest stall is the closest to the service's own.
 */
const ROUNDS = amountOf({ quick: 1, long: 3 });

test(
  "while another process holds the store's lock, syncs are refused and nothing else waits",
  async () => {
    const node = worldOf(100);
    using served = serveNode(new ChainNode(node).answer);
    const service = await serviceOn(served.url);
    await service.synced();
    const other = new Database(service.path);
    const settle = (number: number): void => {
      node.slot += 1n;
      node.putEscrow(refundedOf(worldEscrow(number)));
      node.slot += 1n;
    };
    /** Takes the store's lock, which a sync of the service may hold at the moment. */
    const lock = () =>
      until(
        "the store is locked",
        async () => {
          try {
            other.run("BEGIN IMMEDIATE");
          } catch (cause) {
            if (!(cause instanceof SQLiteError) || cause.code !== "SQLITE_BUSY") throw cause;
          }
          return other.inTransaction;
        },
        (isLocked) => isLocked,
      );
    const lockedRound = async (round: number): Promise<number> => {
      await lock();
      settle(4 * round);
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
      const { longestMs, ownMs } = stopWatching();
      const { reads, statuses } = await stopReading();
      other.run("ROLLBACK");
      tell(
        `${refused} syncs refused, ${reads} reads; the event loop stood still for ${ownMs.toFixed(0)} ms at most, ` +
          `${longestMs.toFixed(0)} ms with what it waited for a core`,
      );
      expect(statuses).toEqual({ 200: reads });
      await service.synced();
      return ownMs;
    };
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && shortestMs >= MOST_STALL_MS; round++)
      shortestMs = Math.min(shortestMs, await lockedRound(round));
    other.close();
    await service.stop();
    await expectIndexOf(service.path, node);
    if (LOCKED_MS >= 10_000) expect(shortestMs).toBeLessThan(MOST_STALL_MS);
  },
  LONG_MS,
);
