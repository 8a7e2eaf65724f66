import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Cause, Effect, Exit } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { remoteBackend } from "../hostile-node/backends.ts";
import { hostileNode } from "../hostile-node/hostile-node.ts";
import type { Scenario } from "../hostile-node/scenario.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { tmpdir } from "../temporary-root.ts";
import type { ClusterEscrows } from "./cluster-escrows.ts";
import type { ClusterLedger } from "./cluster-ledger.ts";

const ALL = 100_000;
/** Syncs of the hostile part; before each but the first the ledger changes. */
const ROUNDS = 3;
/**
 * A node that gave no usable answers is asked again after seconds. A slot of another ledger that this one has not
 * reached is forgotten after two minutes (`HighestSlots`).
 */
const HEALED_WITHIN_MS = 300_000;
const PAUSE_MS = 500;

/** What the scenarios are played on. */
export type PlayedCluster = {
  readonly rpcUrl: string;
  readonly webSocketUrl: string;
  readonly genesisHash: string;
  readonly deployment: Deployment;
  readonly ledger: ClusterLedger;
  readonly escrows: ClusterEscrows;
};

/**
 * Syncs an index behind a node that is not hostile yet, until the backend knows answers that are as old as the
 * scenario's backends lag: a real node cannot go back in time.
 */
const recallPast = async (
  { ledger, genesisHash, deployment }: PlayedCluster,
  node: ReturnType<typeof hostileNode>,
  lagSlots: number,
  path: string,
): Promise<void> => {
  node.setHostile(false);
  const index = await openIndexOfNode({ url: node.url, path, genesisHash, deployment });
  try {
    const first = await ledger.slot();
    do {
      const exit = await index.sync();
      if (Exit.isFailure(exit)) throw new Error(`before the scenario: ${Cause.pretty(exit.cause)}`);
      await Bun.sleep(PAUSE_MS);
    } while ((await ledger.slot()) <= first + lagSlots);
  } finally {
    await index.close();
    node.setHostile(true);
  }
};

/**
 * Syncs a new index behind a hostile node that stands before a cluster's node, while escrows are made and refunded.
 * Throughout, the index shows the cluster's escrows as they were after its mark; once the node is healed it has all of
 * them. Returns what was seen. @throws Error that names the scenario and seed.
 */
export const endureOnCluster = async (
  cluster: PlayedCluster,
  scenario: Scenario,
  seed: number,
): Promise<{ readonly completed: number; readonly requests: number; readonly events: bigint }> => {
  const { genesisHash, deployment, ledger, escrows } = cluster;
  const when = `${scenario.name}, seed ${seed}`;
  const folder = await mkdtemp(join(tmpdir(), "test-cluster-index-"));
  const backend = remoteBackend(cluster.rpcUrl, cluster.webSocketUrl);
  using node = hostileNode({ backend, scenario, seed });
  if (scenario.lagSlots !== undefined)
    await recallPast(cluster, node, scenario.lagSlots, join(folder, "before.sqlite"));
  const path = join(folder, "index.sqlite");
  const index = await openIndexOfNode({ url: node.url, path, genesisHash, deployment });

  const expectTrue = async (): Promise<bigint> => {
    const read = await index.run(
      IndexReader.use((store) => Effect.all([store.escrows({}, ALL, null), store.summary])),
    );
    if (Exit.isFailure(read)) throw new Error(`${when}: ${Cause.pretty(read.cause)}`);
    const [rows, { mark }] = read.value;
    const count = mark?.count ?? 0n;
    const shown = new Map(rows.map((escrow) => [escrow.address, escrow]));
    const truth = await ledger.escrowsAt(count);
    if (!isDeepStrictEqual(shown, new Map(truth)))
      throw new Error(
        `${when}: the index shows other escrows than the ledger after event ${count}`,
      );
    return count;
  };

  try {
    let events = await ledger.count();
    let completed = 0;
    let before = 0n;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) {
        await escrows.create();
        events += 1n + (await escrows.refund());
        await ledger.finalized(events);
      }
      const exit = await index.sync();
      if (Exit.isSuccess(exit)) completed += 1;
      else if (scenario.isUsual) throw new Error(`${when}: ${Cause.pretty(exit.cause)}`);
      const now = await expectTrue();
      if (now < before)
        throw new Error(`${when}: the index went back from event ${before} to ${now}`);
      before = now;
    }
    const requests = node.requests();
    node.setHostile(false);
    const deadline = performance.now() + HEALED_WITHIN_MS;
    while (before < events && performance.now() < deadline) {
      const healed = await index.run(IndexSync.use(({ snapshot }) => snapshot));
      if (Exit.isFailure(healed)) await Bun.sleep(PAUSE_MS);
      before = await expectTrue();
    }
    if (before < events)
      throw new Error(`${when}: healed, it stays at event ${before} of ${events}`);
    return { completed, requests, events };
  } finally {
    await index.close();
    await rm(folder, { recursive: true, force: true });
  }
};
