import { Clock, Context, Effect, Layer } from "effect";
import type { LedgerFailure } from "../../../ports/ledger.ts";
import { failOver, untilAnswered } from "./fail-over.ts";
import { firstToSucceed } from "../transport/first-to-succeed.ts";
import { HighestSlots } from "./highest-slots.ts";
import { jsonRpcClient } from "../transport/json-rpc-client.ts";
import { PooledNode, type RpcRequest } from "./pooled-node.ts";
import { LedgerIdentity } from "./ledger-identity.ts";
import { NodeUnable, type RpcRefusal } from "../transport/rpc-failure.ts";
import type { ScanSink } from "../accounts/scan-body.ts";
import type { Pool, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** All nodes of one ledger behind one interface. Every request to the ledger goes through it. */
export class NodePool extends Context.Service<
  NodePool,
  {
    /** The first usable answer of any node. The request may reach several nodes, so it must be safe to repeat. */
    readonly call: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /** One node's answers to two requests of one pool. The second request is sent after the first answer. */
    readonly callInTurn: <A, B>(
      first: RpcRequest<A>,
      second: RpcRequest<B>,
    ) => Effect.Effect<readonly [A, B], LedgerFailure | RpcRefusal>;
    /** Sends the request to every node at once and succeeds with the first answer. */
    readonly tellAll: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /** Sends the request to every node; each one's answer in the order of the configuration, null for one without a usable answer. */
    readonly askEach: <A>(request: RpcRequest<A>) => Effect.Effect<ReadonlyArray<A | null>>;
    /** Puts the first node behind the others; false when it is the only one. */
    readonly askAnother: Effect.Effect<boolean>;
    /** How many nodes are configured. */
    readonly count: number;
    /**
     * Scans a program's accounts into `sink` and returns the slot they were read at. When a node breaks off, the scan
     * restarts at the next node, so `sink` may get an account twice.
     */
    readonly scan: (
      params: ReadonlyArray<unknown>,
      sink: ScanSink,
    ) => Effect.Effect<number, LedgerFailure | RpcRefusal>;
    readonly slots: HighestSlots;
  }
>()("settlement-evidence/adapters/solana-rpc/NodePool") {}

/** The pool of the configured nodes. */
export const nodePool = (config: SolanaRpcConfig): Layer.Layer<NodePool> =>
  Layer.effect(
    NodePool,
    Effect.gen(function* () {
      const slots = new HighestSlots(yield* Clock.Clock);
      const clients = config.urls.map((url) => jsonRpcClient(url));
      // With a single node there is no other ledger to confuse it with.
      const identity = clients.length > 1 ? new LedgerIdentity(config.pools.single) : null;
      const nodesOf = (name: Pool) =>
        clients.map((client) => new PooledNode(client, name, config, identity));
      const pools: Record<Pool, Array<PooledNode>> = {
        single: nodesOf("single"),
        bulk: nodesOf("bulk"),
      };
      const notingBehind = <A>(call: Effect.Effect<A, LedgerFailure | RpcRefusal>) =>
        Effect.tapError(call, (failure) =>
          Effect.sync(() => {
            const cause = failure._tag === "LedgerUnavailable" ? failure.cause : null;
            if (cause instanceof NodeUnable && cause.kind === "behind") slots.missed();
          }),
        );
      return NodePool.of({
        call: (request) =>
          failOver(
            pools[request.pool],
            (node, ticket) => node.ask(request, ticket),
            config.pools[request.pool],
            config,
          ).pipe(notingBehind),
        callInTurn: (first, second) =>
          failOver(
            pools[first.pool],
            (node, ticket) => node.askInTurn(first, second, ticket),
            config.pools[first.pool],
            config,
          ).pipe(notingBehind),
        tellAll: (request) =>
          firstToSucceed(
            pools[request.pool].map((node) =>
              failOver(
                [node],
                (only, ticket) => only.ask(request, ticket),
                config.pools[request.pool],
                config,
              ),
            ),
            ({ _tag }) => _tag === "RpcRefusal",
          ),
        askEach: (request) =>
          Effect.forEach(
            pools[request.pool],
            (node) =>
              failOver(
                [node],
                (only, ticket) => only.ask(request, ticket),
                config.pools[request.pool],
                config,
              ).pipe(Effect.orElseSucceed(() => null)),
            { concurrency: "unbounded" },
          ),
        askAnother: Effect.sync(() => {
          for (const nodes of Object.values(pools)) nodes.push(...nodes.splice(0, 1));
          return clients.length > 1;
        }),
        count: clients.length,
        // The whole scan has no time limit: the consumer of the accounts sets the pace.
        scan: (params, sink) =>
          untilAnswered(
            pools.bulk,
            (node, ticket) => node.scan(params, sink, ticket),
            config.pools.bulk,
            config,
          ).pipe(notingBehind),
        slots,
      });
    }),
  );
