import { afterEach, expect, test } from "bun:test";
import { Effect } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";

type Call = { readonly id: number; readonly method: string };

const opened: Array<Disposable> = [];
afterEach(() => {
  for (const thing of opened.splice(0)) thing[Symbol.dispose]();
});

/** A node that records how many requests each body has, and answers a batch as told. */
const nodeThat = (onBatch: (calls: ReadonlyArray<Call>) => Response) => {
  const bodies: Array<number> = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const asked = (await request.json()) as Call | ReadonlyArray<Call>;
      bodies.push("method" in asked ? 1 : asked.length);
      return "method" in asked
        ? Response.json({ jsonrpc: "2.0", id: asked.id, result: null })
        : onBatch(asked);
    },
  });
  opened.push({ [Symbol.dispose]: () => void server.stop(true) });
  return { bodies, url: new URL(`http://127.0.0.1:${server.port}`) };
};

const signatures = Array.from({ length: 6 }, (_, n) =>
  ledgerSignatureFromBytes(new Uint8Array(64).fill(n + 1)),
);
const askAll = Ledger.use((ledger) =>
  Effect.forEach(signatures, (signature) => ledger.transaction(signature), {
    concurrency: "unbounded",
  }),
);
const nothing = (calls: ReadonlyArray<Call>) =>
  calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: null }));

test("transactions asked for at the same time share one batch, answered in any order", async () => {
  const node = nodeThat((calls) => Response.json(nothing(calls).toReversed()));
  const { exit } = await runOver(configOver([node.url]), askAll);
  expect(valueOf(exit)).toEqual(signatures.map(() => null));
  expect(node.bodies).toEqual([6]);
});

test.each([
  ["with a status", () => new Response("no", { status: 400 })],
  ["with one error", () => Response.json({ jsonrpc: "2.0", id: null, error: { code: -32600 } })],
  ["by breaking", () => new Response("broken", { status: 500 })],
])(
  "a node that refuses batches %s gets single requests, and no second batch",
  async (_how, refuse) => {
    const node = nodeThat(refuse);
    const { exit } = await runOver(configOver([node.url]), Effect.andThen(askAll, askAll));
    expect(valueOf(exit)).toEqual(signatures.map(() => null));
    expect(node.bodies).toEqual([6, ...Array.from({ length: 12 }, () => 1)]);
  },
);

test("an answer that a batch lacks is malformed, and asked for again", async () => {
  let turns = 0;
  const node = nodeThat((calls) => Response.json(nothing(calls).slice(turns++ === 0 ? 1 : 0)));
  const { exit } = await runOver(configOver([node.url]), askAll);
  expect(valueOf(exit)).toEqual(signatures.map(() => null));
});
