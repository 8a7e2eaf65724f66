import { serveNode } from "../../../simulation/serve-node.ts";
import type { RpcAnswer, WorldNode } from "../../../simulation/world-node.ts";

/** Serves a world that no longer changes: what has been asked once is answered again as it was. */
export const serveStatic = (node: WorldNode) => {
  const known = new Map<string, RpcAnswer>();
  return serveNode(({ method, params }) => {
    const question = JSON.stringify([method, params]);
    const answer = known.get(question) ?? node.answer(method, params);
    known.set(question, answer);
    return answer;
  });
};
