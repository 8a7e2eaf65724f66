import { answerText, type RpcAnswer, type RpcCall } from "../world/rpc-answer.ts";

export type { RpcCall };

/** The body of the answer to a request or a batch of them. */
export const bodyOf = async (
  asked: RpcCall | ReadonlyArray<RpcCall>,
  answer: (call: RpcCall) => RpcAnswer | Promise<RpcAnswer>,
): Promise<string> => {
  const textOf = async (call: RpcCall) => answerText(call.id, await answer(call));
  return "method" in asked
    ? textOf(asked)
    : `[${(await Promise.all(asked.map(textOf))).join(",")}]`;
};

/** A node that answers over HTTP, batches too. `answer` may change or delay what it says. */
export const serveNode = (answer: (call: RpcCall) => RpcAnswer | Promise<RpcAnswer>) => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const asked = (await request.json()) as RpcCall | ReadonlyArray<RpcCall>;
      const text = await bodyOf(asked, answer);
      return new Response(text, { headers: { "content-type": "application/json" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
};
