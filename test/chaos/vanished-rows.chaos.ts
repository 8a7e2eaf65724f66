import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { EscrowIndex } from "../../ports/escrow-index.ts";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { pendingOf, worldEscrow, worldMerchant } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED } from "./support/chaos-run.ts";

const ESCROWS = 60;
const ROUNDS = amountOf({ quick: 8, long: 100 });

/** The rows of escrows. A merchant's row takes the slot of its newest observation, an event its transaction. */
const rowsOf = (path: string): string =>
  dumpOfIndex(path)
    .split("\n")
    .filter((line) => line.startsWith("escrow "))
    .join("\n");

test(
  "each snapshot reports accounts that vanished from the ledger, and their rows stay",
  async () => {
    const random = randomOf("vanish");
    const node = worldOf(ESCROWS);
    using served = serveNode(({ method, params }) => node.answer(method, params));
    const path = freshPath("index.sqlite");
    // When history has been pruned, only a snapshot shows what changed.
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

test(
  "a new escrow at the address of a vanished, settled one changes nothing of its row",
  async () => {
    const random = randomOf("anew");
    const node = worldOf(ESCROWS);
    using served = serveNode(({ method, params }) => node.answer(method, params));
    const path = freshPath("index.sqlite");
    const stored = async () => {
      const index = await openIndexOfNode({ url: served.url, path });
      const exit = await index.sync();
      const read = await index.run(
        EscrowIndex.use((store) =>
          Effect.all([store.escrows({}, 1000, null), store.events({}, 1000, null)]),
        ),
      );
      await index.close();
      if (Exit.isFailure(exit) || Exit.isFailure(read))
        throw new Error(`seed ${SEED}: the sync failed`);
      const [escrows, events] = read.value;
      const lives = events.map(({ event, position, chainHash }) => ({
        event,
        position,
        chainHash,
      }));
      return { mode: exit.value.mode, rows: { escrows, lives } };
    };
    const { rows: before } = await stored();
    const modes: Record<string, number> = {};
    for (let round = 0; round < ROUNDS; round++) {
      // Of four escrows in a row, the first is Pending.
      const number = 4 * Math.floor((random() * ESCROWS) / 4) + 1 + Math.floor(random() * 3);
      const first = worldEscrow(number);
      node.accounts.delete(first.address);
      node.slot += 10;
      const later = BigInt(1 + Math.floor(random() * 10_000));
      node.putEscrow({
        ...pendingOf(first),
        amount: first.amount + 1n,
        createdAt: first.createdAt + later,
        expiresAt: first.expiresAt + later,
      });
      node.slot += 10;
      // The sync uses history, or a snapshot when that has been pruned.
      node.firstBlock = random() < 0.5 ? 0 : node.slot;
      const { mode, rows } = await stored();
      modes[mode] = (modes[mode] ?? 0) + 1;
      expect(rows, `seed ${SEED}, round ${round}`).toEqual(before);
    }
    expect(Object.keys(modes).sort()).toEqual(["incremental", "snapshot"]);
  },
  LONG_MS,
);
