import { serveNode } from "../../../simulation/serve-node.ts";
import type { RpcAnswer, WorldNode } from "../../../simulation/world-node.ts";

/** Serves a world that does not change: each answer is computed once and repeated. */
export const serveStatic = (node: WorldNode) => {
  const known = new Map<string, RpcAnswer>();
  return serveNode(({ method, params }) => {
    const question = JSON.stringify([method, params]);
    const answer = known.get(question) ?? node.answer(method, params);
    known.set(question, answer);
    return answer;
  });
};
