import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import type { SettlementChain } from "../world/settlement-chain.ts";
import { tmpdir } from "../temporary-root.ts";
import { worldBackend } from "./backends.ts";
import { SHORT_WAITS } from "./endure.ts";
import { hostileNode } from "./hostile-node.ts";
import { resultOf, scenarioOfTest, valueOf } from "./one-index.ts";
import { HONEST } from "./scenarios.ts";

type Shown = { readonly owner: string; readonly data: Uint8Array } | null;
type Answer = {
  readonly context: { readonly slot: number };
  readonly value: ReadonlyArray<object | null>;
};

/** What a node makes of the account of one address, of which the ledger has these bytes, and of the slot of its answer. */
export type Lie = { readonly account: (data: Uint8Array) => Shown; readonly slots?: number };

/** An account of this owner with the ledger's bytes, changed. */
export const of =
  (owner: string, change: (data: Uint8Array) => Uint8Array): Lie["account"] =>
  (data) => ({
    owner,
    data: change(data),
  });

/** A node that lies about one address, as `lie` says at each request; null tells the truth. */
const lyingAbout = (address: string, lie: () => Lie | null) =>
  scenarioOfTest("lies about one account", ({ backend }) => async (call) => {
    const answer = await backend.answer(call);
    const asked = call.params[0];
    const at = Array.isArray(asked) ? asked.indexOf(address) : -1;
    if (call.method !== "getMultipleAccounts" || at < 0 || "error" in answer) return answer;
    const is = lie();
    if (is === null) return answer;
    const { context, value } = resultOf(answer) as Answer;
    const { account, slots = 0 } = is;
    const was = (value[at] ?? { ...EMPTY, data: ["", "base64"] }) as {
      readonly data: readonly [string];
    };
    const shown = account(new Uint8Array(Buffer.from(was.data[0], "base64")));
    const told = shown && {
      ...was,
      owner: shown.owner,
      data: [Buffer.from(shown.data).toString("base64"), "base64"],
      space: shown.data.length,
    };
    return {
      result: {
        context: { slot: context.slot + slots },
        value: value.map((one, n) => (n === at ? told : one)),
      },
    };
  });

/** The members of an account that a lie does not change. */
const EMPTY = { lamports: 1, executable: false, rentEpoch: 0 };

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
 * Runs a program with an index that has synced honest nodes, of which the first lies about one address from then on. With
 * `honest` a second node always tells the truth.
 */
export const behindLiar = async (
  { address, world, honest }: { address: string; world: SettlementChain; honest: boolean },
  program: (behind: Behind) => Promise<void>,
) => {
  let now: Lie | null = null;
  let told = 0;
  const scenario = lyingAbout(address, () => {
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
