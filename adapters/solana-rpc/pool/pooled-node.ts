import { Effect } from "effect";
import { backoffMs } from "../transport/backoff.ts";
import { type Admission, CircuitBreaker, type Ticket } from "../transport/circuit-breaker.ts";
import type { JsonRpcClient } from "../transport/json-rpc-client.ts";
import type { LedgerIdentity } from "./ledger-identity.ts";
import { monotonicMs } from "../transport/monotonic-time.ts";
import { NodeFault, NodeUnable, type RpcRefusal } from "../transport/rpc-failure.ts";
import type { ScanSink } from "../accounts/scan-body.ts";
import type { Pool, PoolLimits, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** A decoded `result`. "malformed" when the method cannot return it, "behind" when its slot is too low. */
export type Reading<A> = { readonly value: A } | "malformed" | "behind";

/** One JSON-RPC request and the decoder of its result. */
export type RpcRequest<A> = {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly pool: Pool;
  readonly decode: (result: unknown) => Reading<A>;
};

/** How one request to one node fails. */
export type NodeFailure = NodeFault | NodeUnable | RpcRefusal;

/** A node as one pool uses it, with the circuit breaker of that pool. */
export class PooledNode {
  readonly #client: JsonRpcClient;
  readonly #config: SolanaRpcConfig;
  readonly #pool: Pool;
  readonly #identity: LedgerIdentity | null;
  readonly #breaker = new CircuitBreaker();
  #lastFault: NodeFault | null = null;

  /** Without an identity, the node's ledger is not checked. */
  constructor(
    client: JsonRpcClient,
    pool: Pool,
    config: SolanaRpcConfig,
    identity: LedgerIdentity | null,
  ) {
    this.#identity = identity;
    this.#client = client;
    this.#pool = pool;
    this.#config = config;
  }

  /** Whether the node may be asked now. The caller must pass the ticket to `abandon` in the end. */
  admit(nowMs: number): Admission {
    return this.#breaker.admit(nowMs);
  }

  /** Gives a ticket back. Does nothing when the request had an outcome. */
  abandon(ticket: Ticket): void {
    this.#breaker.abandoned(ticket);
  }

  /** The fault that last opened the circuit breaker, null before the first. */
  get lastFault(): NodeFault | null {
    return this.#lastFault;
  }

  /** The decoded answer to a request. A malformed answer counts as a fault of the node, like a broken connection. */
  ask<A>(request: RpcRequest<A>, ticket: Ticket): Effect.Effect<A, NodeFailure> {
    const answer = this.#client.ask(request.method, request.params, this.#limits);
    const read = (result: unknown) => this.#read(request.decode(result));
    if (request.method !== "getGenesisHash")
      return this.#judged(Effect.flatMap(this.#confirmed(answer), read), ticket);
    // This answer is the genesis hash itself, so no second request is needed to check the ledger.
    const proved = Effect.tap(
      answer,
      (hash) => this.#identity?.judge(this.#client, hash) ?? Effect.void,
    );
    return this.#judged(Effect.flatMap(proved, read), ticket);
  }

  /** The answers to two requests, sent one after the other. When either fails, both fail. */
  askInTurn<A, B>(
    first: RpcRequest<A>,
    second: RpcRequest<B>,
    ticket: Ticket,
  ): Effect.Effect<readonly [A, B], NodeFailure> {
    const ask = <C>({ method, params, decode }: RpcRequest<C>) =>
      Effect.flatMap(this.#client.ask(method, params, this.#limits), (result) =>
        this.#read(decode(result)),
      );
    return this.#judged(this.#confirmed(Effect.all([ask(first), ask(second)])), ticket);
  }

  /** Scans a program's accounts into `sink` and returns the slot they were read at. */
  scan(
    params: ReadonlyArray<unknown>,
    sink: ScanSink,
    ticket: Ticket,
  ): Effect.Effect<number, NodeFailure> {
    return this.#judged(
      this.#confirmed(this.#client.scanAccounts(params, this.#limits, sink)),
      ticket,
    );
  }

  #confirmed<A>(answer: Effect.Effect<A, NodeFailure>): Effect.Effect<A, NodeFailure> {
    return Effect.andThen(this.#identity?.confirm(this.#client) ?? Effect.void, answer);
  }

  get #limits(): PoolLimits {
    return this.#config.pools[this.#pool];
  }

  #judged<A>(answer: Effect.Effect<A, NodeFailure>, ticket: Ticket): Effect.Effect<A, NodeFailure> {
    return answer.pipe(
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
    if (fault.kind === "unreachable") this.#identity?.doubt(this.#client);
    const { backoffBaseMs, backoffCapMs, retryAfterCapMs } = this.#config;
    const ownMs = yield* backoffMs(this.#breaker.failures + 1, backoffBaseMs, backoffCapMs);
    const coolDownMs = Math.max(ownMs, Math.min(fault.retryAfterMs ?? 0, retryAfterCapMs));
    if (!this.#breaker.failed(ticket, (yield* monotonicMs) + coolDownMs)) return;
    this.#lastFault = fault;
    yield* Effect.logWarning("ledger node paused").pipe(
      Effect.annotateLogs({ fault: fault.message, coolDownMs: Math.round(coolDownMs) }),
    );
  });
}
