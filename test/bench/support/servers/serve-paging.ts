import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { PagingLedger } from "../../../simulation/paging-ledger.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { bodyOf } from "../../../simulation/serve-node.ts";
import type { RpcCall } from "../../../world/rpc-answer.ts";

// Run as a process: a provider's node over a ledger with argv[2] escrows. Prints its address. GET /stats answers with
// requests by method and bytes sent since the last GET; GET /refund/N settles N escrows.
provideSha256(sha256Bun);
const node = new ChainNode(new PagingLedger(Number(process.argv[2])));
let bytes = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch: async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/stats") {
      const stats = { bytes, asked: { ...node.asked }, count: String(node.chain.count) };
      bytes = 0;
      for (const method of Object.keys(node.asked)) delete node.asked[method];
      return Response.json(stats);
    }
    if (pathname.startsWith("/offer/")) {
      node.offers = { pages: true, transactions: pathname === "/offer/transactions" };
      return new Response();
    }
    if (pathname.startsWith("/refund/"))
      return Response.json(node.chain.refund(Number(pathname.slice(8))));
    const asked = (await request.json()) as RpcCall | ReadonlyArray<RpcCall>;
    const text = await bodyOf(asked, (call) => node.answer(call));
    bytes += text.length;
    return new Response(text, { headers: { "content-type": "application/json" } });
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
