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
import type { Lane, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** The nodes of one ledger as one: everything that asks the ledger asks through the same pool. */
export class NodePool extends Context.Service<
  NodePool,
  {
    /** The answer of whichever node gives a usable one. What is asked must be harmless to ask twice. */
    readonly call: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /** The answers of one and the same node to two requests of one lane, the second sent after the first. */
    readonly callInTurn: <A, B>(
      first: RpcRequest<A>,
      second: RpcRequest<B>,
    ) => Effect.Effect<readonly [A, B], LedgerFailure | RpcRefusal>;
    /** Tells every node at once, and succeeds as soon as one has taken it. */
    readonly tellAll: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /**
     * Scans a program's accounts into `sink` and gives the slot they were read at. When a node breaks off,
     * the scan begins again, with the next node: accounts that came already come again.
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
      // One node alone is the ledger.
      const identity = clients.length > 1 ? new LedgerIdentity(config.lanes.single) : null;
      const lane = (name: Lane) =>
        clients.map((client) => new PooledNode(client, name, config, identity));
      const lanes: Record<Lane, ReadonlyArray<PooledNode>> = {
        single: lane("single"),
        bulk: lane("bulk"),
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
            lanes[request.lane],
            (node, ticket) => node.ask(request, ticket),
            config.lanes[request.lane],
            config,
          ).pipe(notingBehind),
        callInTurn: (first, second) =>
          failOver(
            lanes[first.lane],
            (node, ticket) => node.askInTurn(first, second, ticket),
            config.lanes[first.lane],
            config,
          ).pipe(notingBehind),
        tellAll: (request) =>
          firstToSucceed(
            lanes[request.lane].map((node) =>
              failOver(
                [node],
                (only, ticket) => only.ask(request, ticket),
                config.lanes[request.lane],
                config,
              ),
            ),
            ({ _tag }) => _tag === "RpcRefusal",
          ),
        // No limit on the whole: the taker of the accounts sets the pace.
        scan: (params, sink) =>
          untilAnswered(
            lanes.bulk,
            (node, ticket) => node.scan(params, sink, ticket),
            config.lanes.bulk,
            config,
          ).pipe(notingBehind),
        slots,
      });
    }),
  );
