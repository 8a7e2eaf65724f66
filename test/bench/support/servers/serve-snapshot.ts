import { SCAN_FAILED } from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { decodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import type { AccountFilter } from "../../../simulation/account-filters.ts";
import { AGENT_OWNER_AT, snapshotAnswer, snapshotParts } from "../snapshot-parts.ts";
import type { RpcCall } from "../../../world/rpc-answer.ts";

// Run as a process: a node with argv[2] escrows. It sends accounts as fast as it can, because the answers are made
// before it prints its address. Like public nodes, it refuses very large answers.
const MOST_AT_ONCE = 200_000;
const escrows = Number(process.argv[2]);
const parts = snapshotParts(escrows);

type Options = { readonly filters?: ReadonlyArray<AccountFilter> };

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const { id, params } = (await request.json()) as RpcCall;
    // Every account is an escrow, so only the filter of a part leaves any out.
    const filters = (params[1] as Options).filters ?? [];
    const filter = filters.find(({ memcmp }) => memcmp?.offset === AGENT_OWNER_AT)?.memcmp;
    if (filter === undefined && escrows > MOST_AT_ONCE)
      return Response.json({ jsonrpc: "2.0", error: { code: SCAN_FAILED, message: "" }, id });
    const wanted =
      filter === undefined ? parts : [parts[decodeBase58(filter.bytes, 1)?.[0] ?? 0] ?? []];
    const answer = snapshotAnswer(id, wanted);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const { value, done } = answer.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
