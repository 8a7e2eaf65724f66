import { afterEach, expect, test } from "bun:test";
import { ChainNode } from "../world/chain-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS, randomOf, SEED } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { serviceOn } from "./support/service-on-node.ts";

const ROUNDS = amountOf({ quick: 4, long: 200 });
const HOUR_MS = 3_600_000;

const realNow = Date.now.bind(Date);
const setClock = (offsetMs: number): void => void (Date.now = () => realNow() + offsetMs);
afterEach(() => setClock(0));

type Json = Readonly<Record<string, unknown>>;

/** Every number whose name says that it is a duration. */
const durationsIn = (value: unknown): ReadonlyArray<number> =>
  typeof value !== "object" || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) =>
        /(_ms|_seconds|lag_slots)$/.test(name) && typeof inner === "number"
          ? [inner]
          : durationsIn(inner),
      );

test(
  "when the clock jumps by an hour either way, no duration is negative and evidence does not change",
  async () => {
    const random = randomOf("clock");
    const node = worldOf(ROUNDS * 4 + 4);
    using served = serveNode(new ChainNode(node).answer);
    const service = await serviceOn(served.url);
    await service.synced();
    const get = async (path: string) => (await fetch(service.url + path)).json() as Promise<Json>;
    const settled = `/v1/evidence/${worldEscrow(1).address}`;
    const pending = `/v1/evidence/${worldEscrow(4 * ROUNDS).address}`;
    const before = [(await get(settled))["data"], (await get(pending))["data"]];
    for (let round = 0; round < ROUNDS; round++) {
      const when = `seed ${SEED}, round ${round}`;
      setClock([HOUR_MS, -HOUR_MS, 0][Math.floor(random() * 3)] ?? 0);
      node.slot += 1n;
      node.putEscrow(refundedOf(worldEscrow(4 * round)));
      node.slot += 1n;
      const syncing = fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
      // The clock jumps once more while the sync runs.
      setClock(random() < 0.5 ? HOUR_MS : -HOUR_MS);
      const answer = await syncing;
      expect(answer.status, when).toBe(202);
      const shown = [await answer.json(), await get("/v1/status"), await get("/health")];
      const durations = durationsIn(shown);
      expect(durations.length).toBeGreaterThan(2);
      expect(Math.min(...durations), `${when}: ${JSON.stringify(shown)}`).toBeGreaterThanOrEqual(0);
      const data = [(await get(settled))["data"], (await get(pending))["data"]];
      const dateless = ([one, other]: ReadonlyArray<unknown>) => [
        one,
        { ...(other as Json), as_of: 0 },
      ];
      expect(dateless(data), when).toEqual(dateless(before));
    }
    await service.stop();
    await expectIndexOf(service.path, node);
  },
  LONG_MS,
);

test(
  "a jump of the clock neither renews a client's budget nor takes one away",
  async () => {
    const node = worldOf(4);
    using served = serveNode(new ChainNode(node).answer);
    const service = await serviceOn(served.url, { RATE_LIMIT_PREPARE: "3" });
    const prepare = () =>
      service.status("/v1/escrows/prepare", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
    expect([await prepare(), await prepare(), await prepare()]).toEqual([422, 422, 422]);
    for (const offsetMs of [0, HOUR_MS, -HOUR_MS, 0]) {
      setClock(offsetMs);
      const refused = await fetch(`${service.url}/v1/escrows/prepare`, { method: "POST" });
      expect([offsetMs, refused.status]).toEqual([offsetMs, 429]);
      const seconds = Number(refused.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
    }
    await service.stop();
  },
  LONG_MS,
);
