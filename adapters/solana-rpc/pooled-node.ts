import { Clock, Effect } from "effect";
import { backoffMs } from "./backoff.ts";
import { type Admission, CircuitBreaker, type Ticket } from "./circuit-breaker.ts";
import type { JsonRpcClient } from "./json-rpc-client.ts";
import { NodeFault, NodeUnable, type RpcRefusal } from "./rpc-failure.ts";
import type { Lane, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** A decoded `result`; "malformed" when it is not what the method answers, "behind" when its slot is too low. */
export type Reading<A> = { readonly value: A } | "malformed" | "behind";

/** One question to the ledger, and how its answer reads. */
export type RpcRequest<A> = {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly lane: Lane;
  readonly decode: (result: unknown) => Reading<A>;
};

/** How one request to one node fails. */
export type NodeFailure = NodeFault | NodeUnable | RpcRefusal;

/** Now, in milliseconds of a monotonic clock: cool-downs must not follow the wall clock when it is set. */
export const monotonicMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
);

/** A node with the memory of how it has behaved in one lane. */
export class PooledNode {
  readonly #client: JsonRpcClient;
  readonly #config: SolanaRpcConfig;
  readonly #lane: Lane;
  readonly #breaker = new CircuitBreaker();
  #lastFault: NodeFault | null = null;

  constructor(client: JsonRpcClient, lane: Lane, config: SolanaRpcConfig) {
    this.#client = client;
    this.#lane = lane;
    this.#config = config;
  }

  /** Whether it may be asked now; a ticket must reach `abandon` in the end. */
  admit(nowMs: number): Admission {
    return this.#breaker.admit(nowMs);
  }

  /** Gives a ticket back; of no effect when the request had an outcome. */
  abandon(ticket: Ticket): void {
    this.#breaker.abandoned(ticket);
  }

  /** The fault the node was last left alone for. */
  get lastFault(): NodeFault | null {
    return this.#lastFault;
  }

  /** Sends the request and reads the answer; a malformed one is the node's fault like a broken connection. */
  ask<A>(request: RpcRequest<A>, ticket: Ticket): Effect.Effect<A, NodeFailure> {
    const limits = this.#config.lanes[this.#lane];
    return this.#client.ask(request.method, request.params, limits).pipe(
      Effect.flatMap((result) => this.#read(request.decode(result))),
      Effect.tap(() => Effect.sync(() => this.#breaker.succeeded(ticket))),
      Effect.tapError((failure) =>
        failure._tag === "NodeFault"
          ? this.#leave(ticket, failure)
          : Effect.sync(() => this.#breaker.succeeded(ticket)),
      ),
    );
  }

  #read<A>(reading: Reading<A>): Effect.Effect<A, NodeFailure> {
    const { node } = this.#client;
    if (reading === "behind") {
      return Effect.fail(new NodeUnable({ node, kind: "behind", code: null }));
    }
    return reading === "malformed"
      ? Effect.fail(new NodeFault({ node, kind: "malformed", code: null, retryAfterMs: null }))
      : Effect.succeed(reading.value);
  }

  readonly #leave = Effect.fnUntraced({ self: this }, function* (ticket: Ticket, fault: NodeFault) {
    const { backoffBaseMs, backoffCapMs, retryAfterCapMs } = this.#config;
    const ownMs = yield* backoffMs(this.#breaker.failures + 1, backoffBaseMs, backoffCapMs);
    const coolDownMs = Math.max(ownMs, Math.min(fault.retryAfterMs ?? 0, retryAfterCapMs));
    if (!this.#breaker.failed(ticket, (yield* monotonicMs) + coolDownMs)) return;
    this.#lastFault = fault;
    yield* Effect.logWarning("ledger node left alone").pipe(
      Effect.annotateLogs({ fault: fault.message, coolDownMs: Math.round(coolDownMs) }),
    );
  });
}
