import { expect, test } from "bun:test";
import { responseText } from "../../../../adapters/solana-rpc/transport/rpc-envelope.ts";

const endless = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });

test.each([
  ["in chunks", { "transfer-encoding": "chunked" }],
  ["under a content coding", { "content-encoding": "gzip" }],
])("a body %s is cut at the limit, whatever length its head declares", async (_name, headers) => {
  const response = new Response(endless(), { headers: { ...headers, "content-length": "10" } });
  expect(await responseText(response, 1_000_000)).toBe("oversize");
});

test("a body of a declared length is read whole", async () => {
  const response = new Response("{}", { headers: { "content-length": "2" } });
  expect(await responseText(response, 2)).toEqual({ text: "{}" });
  const beyond = new Response("{ }", { headers: { "content-length": "3" } });
  expect(await responseText(beyond, 2)).toBe("oversize");
});
