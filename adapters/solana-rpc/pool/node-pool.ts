import { Clock, Context, Effect, Layer, Schema } from "effect";
import { ExceptNode, type LedgerFailure, LedgerLane } from "../../../ports/ledger/ledger.ts";
import type { NodeReport } from "../../../ports/ledger/node-reports.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import { scanMethod, type ScanSink } from "../accounts/scan-body.ts";
import { CallTally } from "../transport/call-tally.ts";
import { jsonRpcClient } from "../transport/json-rpc-client.ts";
import { NodeUnable, type RpcRefusal } from "../transport/rpc-failure.ts";
import { firstToSucceed } from "../transport/shared-batches.ts";
import { failOver, type PoolCall, untilAnswered } from "./fail-over.ts";
import { HighestSlots } from "./highest-slots.ts";
import { LedgerIdentity } from "./ledger-identity.ts";
import { MethodPace } from "./method-pace.ts";
import { NodeTally } from "./node-tally.ts";
import type { Pool, SolanaRpcConfig } from "./pool-config.ts";
import { PooledNode, type RpcRequest } from "./pooled-node.ts";

const isSlot = Schema.is(Schema.Natural);
const HISTORY_START: RpcRequest<bigint> = {
  method: "getFirstAvailableBlock",
  params: [],
  decode: (result) => (isSlot(result) ? { value: BigInt(result) } : "malformed"),
};

/** How the start of a node's history is asked for. */
type HistoryStartOptions<A> = {
  readonly before?: RpcRequest<void> | undefined;
  /** Whether an answer needs it; by default every one does. */
  readonly isNeeded?: ((answer: A) => boolean) | undefined;
};

/** All nodes of one ledger behind one interface. Every request to the ledger goes through it. */
export class NodePool extends Context.Service<
  NodePool,
  {
    /** The first usable answer of any node. The request may reach several nodes, so it must be safe to repeat. */
    readonly call: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /**
     * An answer, and the first slot that the history of the same node still holds; null for a slot that it does not
     * tell, and unasked where the answer makes it unneeded. What a node has after the answer, it also had during it.
     * `before`, which that node must answer, is asked before both.
     */
    readonly callWithHistoryStart: <A>(
      request: RpcRequest<A>,
      options?: HistoryStartOptions<A>,
    ) => Effect.Effect<readonly [A, bigint | null], LedgerFailure | RpcRefusal>;
    /** Sends the request to every node at once and succeeds with the first answer. */
    readonly tellAll: <A>(request: RpcRequest<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>;
    /**
     * Sends the request to every node; each one's answer in the order of the configuration, null for one without a
     * usable answer.
     */
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
    /** The calls that were made. */
    readonly calls: CallTally;
    /** How each node has served, in the order of the configuration. */
    readonly reports: Effect.Effect<ReadonlyArray<NodeReport>>;
    /** Which ledger the nodes serve. */
    readonly identity: LedgerIdentity;
  }
>()("settlement-evidence/adapters/solana-rpc/NodePool") {}

/** The pool of the configured nodes. */
export const nodePool = (config: SolanaRpcConfig): Layer.Layer<NodePool> =>
  Layer.effect(
    NodePool,
    Effect.gen(function* () {
      const slots = new HighestSlots(yield* Clock.Clock);
      const identity = new LedgerIdentity(config);
      const calls = new CallTally();
      const shared = config.urls.map((url, index) => {
        const client = jsonRpcClient(url, calls);
        return {
          index,
          client,
          identity,
          pace: new MethodPace(),
          tally: new NodeTally(client.node, index),
        };
      });
      const nodesOf = (name: Pool) => shared.map((node) => new PooledNode(node, name, config));
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
      /** Runs a call in the lane of the running fiber. */
      const inLane = <A>(
        name: Pool,
        run: (call: PoolCall<A>) => Effect.Effect<A, LedgerFailure | RpcRefusal>,
        call: Pick<PoolCall<A>, "ask" | "methods" | "behindPatienceMs"> & Partial<PoolCall<A>>,
      ) =>
        Effect.flatMap(LedgerLane, (lane) =>
          Effect.flatMap(ExceptNode, (except) => {
            const { nodes = pools[name] } = call;
            const asked = except === null ? nodes : nodes.filter(({ index }) => index !== except);
            return run({ limits: config.pools[name], config, lane, ...call, nodes: asked });
          }),
        );
      const asking = <A>(request: RpcRequest<A>, nodes = pools.single) =>
        inLane("single", failOver<A>, {
          nodes,
          ask: (node, ticket) => node.ask(request, ticket),
          methods: [request.method],
          behindPatienceMs: request.behindPatienceMs,
          // The genesis hash comes first where it is due. A batch waits for the batches before it.
          ...(request.mayShare === true ? {} : { mostInTurn: 2 }),
        });
      return NodePool.of({
        call: (request) => notingBehind(asking(request)),
        callWithHistoryStart: <A>(
          request: RpcRequest<A>,
          { before, isNeeded }: HistoryStartOptions<A> = {},
        ) =>
          Effect.suspend(() => {
            let answered: { readonly value: A } | null = null;
            const noting: RpcRequest<A> = {
              ...request,
              decode: (result) => {
                const reading = request.decode(result);
                if (typeof reading === "object") answered = reading;
                return reading;
              },
            };
            return notingBehind(
              inLane("single", failOver<readonly [A, bigint | null]>, {
                ask: (node, ticket) =>
                  node.askInTurn(noting, HISTORY_START, ticket, { before, isNeeded }),
                methods: [request.method, HISTORY_START.method, ...(before ? [before.method] : [])],
              }),
            ).pipe(
              Effect.catch((failure) =>
                answered === null
                  ? Effect.fail(failure)
                  : Effect.succeed([answered.value, null] as const),
              ),
            );
          }),
        tellAll: (request) =>
          firstToSucceed(
            pools.single.map((node) => asking(request, [node])),
            ({ _tag }) => _tag === "RpcRefusal",
          ),
        askEach: (request) =>
          Effect.forEach(
            pools.single,
            (node) => Effect.orElseSucceed(asking(request, [node]), () => null),
            { concurrency: "unbounded" },
          ),
        askAnother: Effect.sync(() => {
          for (const nodes of Object.values(pools)) nodes.push(...nodes.splice(0, 1));
          return config.urls.length > 1;
        }),
        count: config.urls.length,
        // The whole scan has no time limit: the consumer of the accounts sets the pace.
        scan: (params, sink) =>
          notingBehind(
            inLane("bulk", untilAnswered<number>, {
              ask: (node, ticket) => node.scan(params, sink, ticket),
              methods: [scanMethod(sink)],
            }),
          ),
        slots,
        calls,
        reports: Effect.map(monotonicMs, (nowMs) => shared.map(({ tally }) => tally.report(nowMs))),
        identity,
      });
    }),
  );
