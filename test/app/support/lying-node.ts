import { serveNode } from "../../simulation/serve-node.ts";
import { answersOf, type Lie as AccountLie, lyingAbout } from "../../world/node-faults.ts";

/** The bytes that a node shows for an account in place of the true ones. */
export type Lie = (address: string, data: Uint8Array) => Uint8Array;

/** A node of the ledger at `rpcUrl` that tells the truth about every account while `lie` is null. */
export const lyingNode = (rpcUrl: string) => {
  let lie: Lie | null = null;
  const told = (): AccountLie | null => {
    const now = lie;
    return now && ((address, truth) => truth && { ...truth, data: now(address, truth.data) });
  };
  const server = serveNode(lyingAbout(answersOf(rpcUrl), told));
  return {
    url: server.url,
    lies: (next: Lie | null) => {
      lie = next;
    },
    stop: () => server[Symbol.dispose](),
  };
};
