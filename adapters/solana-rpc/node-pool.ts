import { Context, type Effect, Layer } from "effect";
import type { LedgerFailure } from "../../ports/ledger.ts";
import { failOver } from "./fail-over.ts";
import { HighestSlots } from "./highest-slots.ts";
import { jsonRpcClient } from "./json-rpc-client.ts";
import { PooledNode, type RpcRequest } from "./pooled-node.ts";
import type { RpcRefusal } from "./rpc-failure.ts";
import type { Lane, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** The nodes of one ledger as one: everything that asks the ledger asks through the same pool. */
export class NodePool extends Context.Service<
  NodePool,
  {
    /** The answer of whichever node gives a usable one. What is asked must be harmless to ask twice. */
    readonly call: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    readonly slots: HighestSlots;
  }
>()("settlement-evidence/adapters/solana-rpc/NodePool") {}

/** The pool of the configured nodes. */
export const nodePool = (config: SolanaRpcConfig): Layer.Layer<NodePool> =>
  Layer.sync(NodePool, () => {
    const clients = config.urls.map((url) => jsonRpcClient(url));
    const lane = (name: Lane) => clients.map((client) => new PooledNode(client, name, config));
    const lanes: Record<Lane, ReadonlyArray<PooledNode>> = {
      single: lane("single"),
      bulk: lane("bulk"),
    };
    return NodePool.of({
      call: (request) => failOver(lanes[request.lane], request, config),
      slots: new HighestSlots(),
    });
  });
