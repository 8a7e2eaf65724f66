/** What a JSON-RPC method answers: a result, or an error object. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** JSON text that is inserted unchanged, because its numbers exceed what JSON.stringify can write. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** One request to a node. */
export type RpcCall = {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
};

/** The body of the answer to a request. */
export const answerText = (id: number, answer: RpcAnswer): string => {
  if ("error" in answer) return JSON.stringify({ jsonrpc: "2.0", error: answer.error, id });
  const { result } = answer;
  const text = result instanceof JsonText ? result.text : JSON.stringify(result);
  return `{"jsonrpc":"2.0","result":${text},"id":${id}}`;
};

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
