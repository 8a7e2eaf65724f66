import { serveNode } from "../../simulation/serve-node.ts";
import type { WorldNode } from "../../simulation/world-node.ts";

/** A node of this world that holds back its answer to the scan numbered `at`, from 1, until it is released. */
export const servePaused = (node: WorldNode, at: number) => {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let scans = 0;
  const served = serveNode(async ({ method, params }) => {
    if (method === "getProgramAccounts" && (scans += 1) >= at) {
      asked.resolve();
      await held.promise;
    }
    return node.answer(method, params);
  });
  return {
    ...served,
    /** Resolves once the scan is asked for. */
    paused: asked.promise,
    release: held.resolve,
  };
};
