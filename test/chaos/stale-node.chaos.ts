import { expect, test } from "bun:test";
import { until } from "../app/support/running-service.ts";
import { denyingLag, refusing } from "../world/node-faults.ts";
import { ChainNode } from "../world/chain-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import type { SettlementChain } from "../world/settlement-chain.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, LONG_MS, randomOf, SEED } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { serviceOn } from "./support/service-on-node.ts";

const ROUNDS = amountOf({ quick: 3, long: 60 });
const ESCROWS = 40;

type Status = {
  readonly data: {
    readonly network: { readonly healthy: boolean };
    readonly indexer: {
      readonly last_synced_slot: number;
      readonly lag_slots: number | null;
      readonly last_error: string | null;
    };
  };
};

/** A node that is 500 slots behind another while `isStale`. It either admits or denies it. */
const behind = (
  newest: SettlementChain,
  old: SettlementChain,
  state: { isStale: boolean; denies: boolean },
) => {
  const [fresh, stale] = [new ChainNode(newest).answer, new ChainNode(old).answer];
  return serveNode((call) => {
    if (!state.isStale) return fresh(call);
    return (state.denies ? denyingLag(stale) : stale)(call);
  });
};

test(
  "a node that falls back 500 slots never turns the index back, and its lag shows",
  async () => {
    const random = randomOf("stale");
    const newest = worldOf(ESCROWS);
    const old = worldOf(ESCROWS);
    newest.slot += 500n;
    const state = { isStale: false, denies: false };
    using served = behind(newest, old, state);
    const service = await serviceOn(served.url);
    const status = async () =>
      ((await (await fetch(`${service.url}/v1/status`)).json()) as Status).data;
    await service.synced();
    let highest = (await status()).indexer.last_synced_slot;
    for (let round = 0; round < ROUNDS; round++) {
      newest.slot += BigInt(1 + Math.floor(random() * 10));
      const escrow = worldEscrow((round % 10) * 4);
      newest.putEscrow(refundedOf(escrow));
      state.isStale = true;
      state.denies = random() < 0.5;
      const code = await service.status("/v1/indexer/sync", { method: "POST" });
      expect(code, `seed ${SEED}, round ${round}`).toBe(502);
      const while_ = await until(
        "the node's fall shows",
        status,
        ({ network }) => !network.healthy,
      );
      expect(while_.indexer.last_synced_slot).toBeGreaterThanOrEqual(highest);
      expect(while_.indexer.last_error, `seed ${SEED}, round ${round}`).not.toBeNull();
      await until(
        "not ready",
        () => service.status("/ready"),
        (code) => code === 503,
      );
      state.isStale = false;
      await service.synced();
      const after = await until(
        "no error, and a healthy node",
        status,
        ({ indexer, network }) => indexer.last_error === null && network.healthy,
      );
      expect(after.indexer.last_synced_slot).toBeGreaterThanOrEqual(Number(newest.slot));
      highest = after.indexer.last_synced_slot;
      await until(
        "ready",
        () => service.status("/ready"),
        (code) => code === 200,
      );
    }
    await service.stop();
    await expectIndexOf(service.path, newest);
  },
  LONG_MS,
);

test(
  "an index that nobody syncs reports its lag in slots",
  async () => {
    const node = worldOf(ESCROWS);
    using served = serveNode(new ChainNode(node).answer);
    const service = await serviceOn(served.url, { SYNC_INTERVAL_SECONDS: "0" });
    const lag = async () =>
      ((await (await fetch(`${service.url}/v1/status`)).json()) as Status).data.indexer.lag_slots;
    await service.synced();
    // A busy machine can make the ledger's part of the status late, and the lag unknown.
    await until("the lag is known", lag, (slots) => slots === 0);
    node.slot += 500n;
    // A status may be a second old.
    await until("the lag shows", lag, (slots) => slots === 500);
    await service.stop();
  },
  LONG_MS,
);

test(
  "when the good node fails, the stale second one is asked and refused, and nothing turns back",
  async () => {
    const newest = worldOf(ESCROWS);
    newest.slot += 500n;
    for (let number = 0; number < ESCROWS; number += 4)
      newest.putEscrow(refundedOf(worldEscrow(number)));
    let isDown = false;
    using stale = behind(newest, worldOf(ESCROWS), { isStale: true, denies: true });
    using good = serveNode(refusing(new ChainNode(newest).answer, () => isDown));
    const service = await serviceOn(`${good.url},${stale.url}`);
    await service.synced();
    isDown = true;
    expect(await service.status("/v1/indexer/sync", { method: "POST" })).toBe(502);
    isDown = false;
    await service.synced();
    await service.stop();
    await expectIndexOf(service.path, newest);
  },
  LONG_MS,
);
