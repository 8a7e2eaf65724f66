import { expect, test } from "bun:test";
import { Exit } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldEscrow, worldMerchant } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED } from "./support/chaos-run.ts";

const ESCROWS = 60;
const ROUNDS = amountOf({ quick: 3, long: 100 });

/** The rows of escrows: those of merchants take the slot of their newest sighting, events their transactions. */
const rowsOf = (path: string): string =>
  dumpOfIndex(path)
    .split("\n")
    .filter((line) => line.startsWith("escrow "))
    .join("\n");

test(
  "accounts that vanish from the ledger are reported by each snapshot, and their rows stay",
  async () => {
    const random = randomOf("vanish");
    const node = worldOf(ESCROWS);
    using served = serveNode(({ method, params }) => node.answer(method, params));
    const path = freshPath("index.sqlite");
    // Where history has been pruned, nothing but a snapshot can tell what changed.
    const snapshot = async () => {
      node.slot += 200;
      node.firstBlock = node.slot;
      const index = await openIndexOfNode({ url: served.url, path });
      const exit = await index.sync();
      await index.close();
      if (Exit.isFailure(exit)) throw new Error(`seed ${SEED}: the sync failed`);
      expect(exit.value.mode).toBe("snapshot");
      return exit.value;
    };
    await snapshot();
    const before = rowsOf(path);
    for (let round = 0; round < ROUNDS; round++) {
      const when = `seed ${SEED}, round ${round}`;
      const gone = new Map<Address, NonNullable<ReturnType<typeof node.accounts.get>>>();
      for (let i = 0; i < 5; i++) {
        const { address } =
          i === 4 ? worldMerchant(round % 50) : worldEscrow(Math.floor(random() * ESCROWS));
        const account = node.accounts.get(address);
        if (account !== undefined) gone.set(address, account);
        node.accounts.delete(address);
      }
      const report = await snapshot();
      expect([...report.vanished].sort(), when).toEqual([...gone.keys()].sort());
      expect(rowsOf(path) === before, when).toBe(true);

      for (const [address, account] of gone) node.accounts.set(address, account);
      expect((await snapshot()).vanished, when).toEqual([]);
      expect(rowsOf(path) === before, when).toBe(true);
    }
  },
  LONG_MS,
);
