import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Effect, Exit, Redacted } from "effect";
import { ledgerSignalsWebSocket } from "../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import { backgroundSync } from "../../app/syncing/syncing-side.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { pendingOf, worldEscrow } from "../simulation/world-escrow.ts";
import { transactionOf } from "../world/settlement-transactions.ts";
import { worldOf } from "../simulation/world.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { scenarioOf } from "./scenarios.ts";

const ESCROWS = 4;
const FAILING = 67;

/** Resolves once `holds`. Other processes may take the core for long, so nothing is concluded from time. */
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await Bun.sleep(10);
};

test(`${FAILING} failing transactions cause no sync, and the one that lands causes one`, async () => {
  const world = worldOf(ESCROWS);
  using node = hostileNode({
    backend: worldBackend(world),
    scenario: scenarioOf("honest"),
    seed: 1,
  });
  const folder = mkdtempSync(join(tmpdir(), "settlement-signals-"));
  const index = await openIndexOfNode({
    url: node.url,
    path: join(folder, "index.sqlite"),
    waits: SHORT_WAITS,
  });
  const signals = ledgerSignalsWebSocket({
    url: Redacted.make(new URL(node.webSocketUrl)),
    addresses: [LOCAL_DEPLOYMENT.custodyProgram, LOCAL_DEPLOYMENT.attestorProgram],
  });
  const count = async () => {
    const read = await index.run(IndexReader.use(({ summary }) => summary));
    return Exit.isSuccess(read) ? read.value.escrows : 0;
  };
  const isIdle = async () => {
    const activity = await index.run(IndexSync.use((sync) => sync.activity));
    return Exit.isSuccess(activity) && !activity.value.running;
  };
  const stop = new AbortController();
  const syncing = index.runUntil(
    Effect.scoped(backgroundSync(3600)).pipe(Effect.provide(signals)),
    stop.signal,
  );
  const reads = () => node.asked["getMultipleAccounts"] ?? 0;
  try {
    await until(async () => (await count()) === ESCROWS);
    // The connection is a signal too: its sync is the second, and reads the config once more.
    await until(() => reads() >= 2 && world.listeners.size === 2);
    await until(isIdle);
    const readBefore = reads();
    for (let number = 0; number < FAILING; number++) {
      world.record(
        transactionOf(world.deployment, pendingOf(worldEscrow(number)), world.slot, true),
      );
      await Bun.sleep(5);
    }
    // Each sync reads the config.
    expect(reads()).toBe(readBefore);
    const before = node.requests();
    world.slot += 1n;
    world.putEscrow(pendingOf(worldEscrow(ESCROWS)));
    world.slot += 1n;
    await until(async () => (await count()) === ESCROWS + 1);
    // One sync reads the transaction, config and escrow together, and the identity, and now and then a history.
    expect(node.requests() - before).toBeLessThanOrEqual(6);
    expect(reads()).toBe(readBefore + 1);
  } finally {
    stop.abort();
    await syncing;
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
