import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import type { SettlementChain } from "../world/settlement-chain.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { scenarioOfTest, valueOf } from "./one-index.ts";
import { HONEST } from "./scenarios.ts";
import { lyingAbout, type Shown } from "../world/node-faults.ts";
import { resultOf } from "../world/rpc-answer.ts";

/**
 * What a node makes of the account of one address, of which the ledger has these bytes, and of the slot of its answer.
 */
export type Lie = { readonly account: (data: Uint8Array) => Shown; readonly slots?: number };

/** An account of this owner with the ledger's bytes, changed. */
export const of =
  (owner: string, change: (data: Uint8Array) => Uint8Array): Lie["account"] =>
  (data) => ({
    owner,
    data: change(data),
  });

/** A node that lies about one address, as `lie` says at each request; null tells the truth. */
const liarAbout = (address: string, lie: () => Lie | null) =>
  scenarioOfTest("lies about one account", ({ backend }) => async (call) => {
    const asked = call.params[0];
    const isAsked = Array.isArray(asked) && asked.includes(address);
    const is = call.method === "getMultipleAccounts" && isAsked ? lie() : null;
    if (is === null) return backend.answer(call);
    const liar = lyingAbout(
      backend.answer,
      () => (shown, truth) =>
        shown === address ? is.account(truth?.data ?? new Uint8Array()) : truth,
    );
    const answer = await liar(call);
    const { context, value } = resultOf(answer) as { context: { slot: number }; value: unknown };
    return { result: { context: { slot: context.slot + (is.slots ?? 0) }, value } };
  });

/** An index that has synced honest nodes. */
export type Index = Awaited<ReturnType<typeof openIndexOfNode>>;

/** What a test does behind a node that lies. */
export type Behind = {
  readonly index: Index;
  /** What the first sync reported. */
  readonly report: Awaited<ReturnType<Index["sync"]>>;
  /** The addresses of the node that lies and of the one that does not. */
  readonly urls: { readonly first: string; readonly second: string };
  /** Says what the node tells from now on; null is the truth. */
  readonly lie: (is: Lie | null) => void;
  /** How often the node was asked about the address. */
  readonly toldLies: () => number;
};

/**
 * Runs a program with an index that has synced honest nodes, of which the first lies about one address from then on.
 * With `honest` a second node always tells the truth.
 */
export const behindLiar = async (
  { address, world, honest }: { address: string; world: SettlementChain; honest: boolean },
  program: (behind: Behind) => Promise<void>,
) => {
  let now: Lie | null = null;
  let told = 0;
  const scenario = liarAbout(address, () => {
    told += 1;
    return now;
  });
  const backend = worldBackend(world);
  using first = hostileNode({ backend, scenario, seed: 1 });
  using second = hostileNode({ backend, scenario: HONEST, seed: 1 });
  const folder = mkdtempSync(join(tmpdir(), "hostile-account-"));
  const index = await openIndexOfNode({
    url: first.url,
    others: honest ? [second.url] : [],
    path: join(folder, "index.sqlite"),
    genesisHash: world.genesisHash,
    waits: SHORT_WAITS,
    behindPatienceMs: 100,
  });
  try {
    const report = await index.sync();
    valueOf(report);
    await program({
      index,
      report,
      urls: { first: first.url, second: second.url },
      lie: (is) => void (now = is),
      toldLies: () => told,
    });
  } finally {
    await index.close();
    rmSync(folder, { recursive: true, force: true });
  }
};
