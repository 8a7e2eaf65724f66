import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import type { ShownAccount } from "../world/chain.ts";
import { ChainNode } from "../world/chain-node.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldMerchant } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED } from "./support/chaos-run.ts";

const ESCROWS = 60;
const ROUNDS = amountOf({ quick: 8, long: 100 });

test(
  "each scan reports merchants that vanished from the ledger, and their rows stay",
  async () => {
    const random = randomOf("vanish");
    const node = worldOf(ESCROWS);
    using served = serveNode(new ChainNode(node).answer);
    const path = freshPath("index.sqlite");
    // When history has been pruned, only a scan shows what changed.
    const scan = async () => {
      node.slot += 200n;
      node.firstSlot = node.slot;
      const index = await openIndexOfNode({ url: served.url, path });
      const exit = await index.sync();
      const rows = await index.run(
        IndexReader.use((store) =>
          Effect.all([store.escrows({}, 1000, null), store.merchants({}, 1000, null)]),
        ),
      );
      await index.close();
      if (Exit.isFailure(exit) || Exit.isFailure(rows))
        throw new Error(`seed ${SEED}: the sync failed`);
      expect(exit.value.mode).toBe("snapshot");
      return { vanished: exit.value.vanished, rows: rows.value };
    };
    const { rows: before } = await scan();
    for (let round = 0; round < ROUNDS; round++) {
      const when = `seed ${SEED}, round ${round}`;
      const gone = new Map<Address, ShownAccount>();
      for (let i = 0; i < 5; i++) {
        const { address } = worldMerchant(Math.floor(random() * 50));
        const account = node.account(address);
        if (account !== null) gone.set(address, account);
        node.vanish(address);
      }
      const { vanished, rows } = await scan();
      expect([...vanished].sort(), when).toEqual([...gone.keys()].sort());
      expect(rows, when).toEqual(before);

      for (const account of gone.values()) node.put(account);
      const again = await scan();
      expect(again.vanished, when).toEqual([]);
      expect(again.rows, when).toEqual(before);
    }
  },
  LONG_MS,
);
