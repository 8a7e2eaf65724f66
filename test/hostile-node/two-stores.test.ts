import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { Cause, Effect, Exit } from "effect";
import { networkLeaf } from "../../core/log/leaf/event-leaf.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { seededRandom } from "../arbitraries/seeded-random.ts";
import { everything } from "../contracts/index-content.ts";
import { referenceRoot } from "../core/log/support/reference-tree.ts";
import { openIndexOfNode, WORLD_LEDGER } from "../simulation/index-of-node.ts";
import { pendingOf, refundedOf, worldEscrow, worldMerchant } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import type { SettlementChain } from "../world/settlement-chain.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { scenarioOf } from "./scenarios.ts";
import { rootOf } from "../../core/log/tree/frontier.ts";

const ESCROWS = 16;
const ROUNDS = 8;
/** Syncs after which every event has its transaction. One looks for those of 32 events. */
const SYNCS_TO_COMPLETE = 4;

type Service = Awaited<ReturnType<typeof openIndexOfNode>>;

const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
  return exit.value;
};

/** Some creations and settlements, and a change of a merchant. */
const advance = (world: SettlementChain, random: () => number): void => {
  for (let changes = 1 + Math.floor(random() * 6); changes > 0; changes--) {
    world.slot += BigInt(1 + Math.floor(random() * 3));
    const escrow = worldEscrow(Math.floor(random() * world.escrows.size));
    if (random() < 0.5) world.putEscrow(pendingOf(worldEscrow(world.escrows.size)));
    else if (world.escrows.get(escrow.address)?.state === "Pending")
      world.putEscrow(refundedOf(pendingOf(escrow)));
  }
  const merchant = worldMerchant(Math.floor(random() * 50));
  world.changeMerchant({ ...merchant, updatedAt: merchant.updatedAt + world.slot });
  world.slot += 10n;
};

/** What a service's readers see, with the log's root at each size; without when it synced. */
const shownBy = async (service: Service) => {
  const { summary, ...rows } = valueOf(
    await service.run(
      Effect.gen(function* () {
        const [reader, writer, log] = [yield* IndexReader, yield* IndexWriter, yield* LogStore];
        return yield* everything({ reader, writer, log });
      }),
    ),
  );
  const { mark, ...counts } = summary;
  const { genesisHash, deployment } = WORLD_LEDGER;
  const leaves = [
    networkLeaf(genesisHash, deployment.custodyProgram),
    ...rows.leaves.map((leaf) => Uint8Array.fromHex(leaf)),
  ];
  const roots = leaves.map((_, at) => referenceRoot(leaves.slice(0, at + 1)).toHex());
  const { count, slot, ledgerTime } = mark ?? {};
  const root = mark && rootOf(mark);
  return { ...rows, counts, roots, mark: { count, root, slot, ledgerTime } };
};

for (const name of ["honest", "lagging-pool-5"])
  test(`two services with stores of their own behind one node (${name}) end with equal rows and roots, however they synced`, async () => {
    const random = seededRandom(7);
    const world = worldOf(ESCROWS);
    using node = hostileNode({ backend: worldBackend(world), scenario: scenarioOf(name), seed: 3 });
    const folder = mkdtempSync(join(tmpdir(), "settlement-two-stores-"));
    const opened: Array<Service> = [];
    const open = async (store: string) => {
      const service = await openIndexOfNode({
        url: node.url,
        path: join(folder, store, "index.sqlite"),
        waits: SHORT_WAITS,
      });
      opened.push(service);
      return service;
    };
    try {
      // The first follows the ledger sync by sync, and is restarted. The second begins at the end, with one build.
      let first = await open("first");
      for (let round = 0; round < ROUNDS; round++) {
        valueOf(await first.sync());
        if (round % 3 === 2) {
          await first.close();
          first = await open("first");
        }
        advance(world, random);
      }
      const second = await open("second");
      node.setHostile(false);
      for (let sync = 0; sync < SYNCS_TO_COMPLETE; sync++) {
        valueOf(await first.sync());
        valueOf(await second.sync());
      }
      const [one, other] = [await shownBy(first), await shownBy(second)];
      expect(other).toEqual(one);
      expect(one.untold).toEqual([]);
      expect(one.mark).toMatchObject({
        count: world.custodyLog.count,
        root: world.custodyLog.root,
      });
      expect(one.roots).toHaveLength(Number(world.custodyLog.count) + 1);
    } finally {
      await Promise.all(opened.map(({ close }) => close()));
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
