import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Effect, ManagedRuntime } from "effect";
import { Blockspace } from "../../ports/ledger/blockspace.ts";
import { Broadcaster } from "../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import type { LedgerWorld } from "./ledger-world.ts";

/** What every Blockspace must do, tested on a real ledger. */
export const blockspaceContract = (name: string, open: () => LedgerWorld): void =>
  describe(`Blockspace: ${name}`, () => {
    let world: LedgerWorld;
    let runtime: ManagedRuntime.ManagedRuntime<Ledger | Broadcaster | Blockspace, never>;
    beforeAll(() => {
      world = open();
      runtime = ManagedRuntime.make(world.layer);
    });
    afterAll(async () => {
      await runtime.dispose();
      await world.close();
    });

    test("a transaction with the latest blockhash can land, up to a block height above the tip", async () => {
      const [{ blockhash, lastValidBlockHeight, slot }, tip] = await runtime.runPromise(
        Effect.all([
          Effect.flatMap(Blockspace, ({ latestBlockhash }) => latestBlockhash),
          Effect.flatMap(Ledger, (ledger) => ledger.tip("confirmed")),
        ]),
      );
      const valid = Broadcaster.use((broadcaster) => broadcaster.isBlockhashValid(blockhash));
      expect(await runtime.runPromise(valid)).toBe(true);
      expect(lastValidBlockHeight).toBeGreaterThan(tip.blockHeight);
      expect(slot).toBeGreaterThan(0n);
    });

    test("recent prices are whole micro-lamports", async () => {
      const prices = await runtime.runPromise(
        Blockspace.use((blockspace) => blockspace.recentPrices(world.unused())),
      );
      for (const price of prices) expect(price).toBeGreaterThanOrEqual(0n);
    });
  });
