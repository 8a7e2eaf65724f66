import { expect, test } from "bun:test";
import { ChainNode } from "../world/chain-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { setFull, watchStores } from "./support/kills/opened-stores.ts";
import { serviceOn } from "./support/service-on-node.ts";

const ROUNDS = amountOf({ quick: 2, long: 25 });
const ESCROWS = 100;
const NEW = 400;

test(
  "with a full disk, stored rows are served and syncs are refused until there is space",
  async () => {
    const node = worldOf(ESCROWS);
    using served = serveNode(new ChainNode(node).answer);
    using stores = watchStores();
    const service = await serviceOn(served.url);
    await service.synced();
    const sync = () => fetch(`${service.url}/v1/indexer/sync`, { method: "POST" });
    for (let round = 0; round < ROUNDS; round++) {
      for (const store of stores.opened) setFull(store, true);
      node.slot += 1n;
      const first = ESCROWS + round * NEW;
      for (let number = first; number < first + NEW; number++) node.putEscrow(worldEscrow(number));
      node.slot += 1n;

      const refused = await sync();
      expect(refused.status, `round ${round}`).toBe(503);
      expect(refused.headers.get("content-type")).toContain("application/problem+json");
      expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
      expect(((await refused.json()) as { code: string }).code).toBe("store_unavailable");
      for (const path of [
        "/v1/indexer",
        "/v1/indexer/events",
        "/v1/registry/merchants",
        "/v1/status",
      ])
        expect(await service.status(path), path).toBe(200);

      for (const store of stores.opened) setFull(store, false);
      expect((await sync()).status, `round ${round}`).toBe(202);
    }
    await service.stop();
    await expectIndexOf(service.path, node);
  },
  LONG_MS,
);
