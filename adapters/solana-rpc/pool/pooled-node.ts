import { Effect } from "effect";
import { type Lane, LastAnswer, ledgerFaultText } from "../../../ports/ledger/ledger.ts";
import { backoffMs } from "../../../core/use-cases/reconnect.ts";
import { type Admission, CircuitBreaker, type Ticket } from "../transport/circuit-breaker.ts";
import type { JsonRpcClient } from "../transport/json-rpc-client.ts";
import type { SlotJudgement } from "./highest-slots.ts";
import type { LedgerIdentity } from "./ledger-identity.ts";
import type { MethodPace } from "./method-pace.ts";
import type { NodeTally } from "./node-tally.ts";
import {
  ledgerFaultOf,
  NodeFault,
  type NodeFailure,
  NodeUnable,
} from "../transport/rpc-failure.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import type { ScanSink } from "../accounts/scan-body.ts";
import type { Pool, PoolLimits, SolanaRpcConfig } from "./pool-config.ts";

/**
 * A decoded `result`, "malformed" when the method cannot return it, or how its slot was judged when that is not fine.
 */
export type Reading<A> = { readonly value: A } | "malformed" | Exclude<SlotJudgement, "fine">;

/** One JSON-RPC request and the decoder of its result. */
export type RpcRequest<A> = {
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly decode: (result: unknown) => Reading<A>;
  /** Whether requests of this method that are sent at the same time may share a batch. */
  readonly mayShare?: boolean;
  /** How long the call waits for a node that is behind, milliseconds; the pool's `behindPatienceMs` by default. */
  readonly behindPatienceMs?: number;
};

/** Whether a node may be asked now. `Paced` when the node limits requests for the method. */
export type NodeAdmission = Admission | { readonly _tag: "Paced"; readonly untilMs: number };

/** What the pools of one node share. */
export type SharedNode = {
  /** Its place in the configuration, from 0. */
  readonly index: number;
  readonly client: JsonRpcClient;
  readonly identity: LedgerIdentity;
  readonly pace: MethodPace;
  readonly tally: NodeTally;
};

/** A node as one pool uses it, with the circuit breaker of that pool. */
export class PooledNode {
  readonly #client: JsonRpcClient;
  readonly #config: SolanaRpcConfig;
  readonly #pool: Pool;
  readonly #identity: LedgerIdentity;
  readonly #pace: MethodPace;
  readonly #breaker = new CircuitBreaker();
  /** Counts how the node serves. */
  readonly tally: NodeTally;
  #lastFault: NodeFault | null = null;
  /** The kind of fault that the log has told since the node's last answer; null for none. */
  #told: NodeFault["kind"] | null = null;
  /** The node's place in the configuration, from 0. */
  readonly index: number;

  constructor(
    { index, client, identity, pace, tally }: SharedNode,
    pool: Pool,
    config: SolanaRpcConfig,
  ) {
    this.index = index;
    this.#identity = identity;
    this.#client = client;
    this.#pace = pace;
    this.tally = tally;
    this.#pool = pool;
    this.#config = config;
  }

  /** Whether the node may be asked for these methods now. The caller must pass the ticket to `abandon` in the end. */
  admit(methods: ReadonlyArray<string>, lane: Lane, nowMs: number): NodeAdmission {
    const all = this.#identity.isDue(this.#client, nowMs)
      ? [...methods, "getGenesisHash"]
      : methods;
    const untilMs = Math.max(...all.map((method) => this.#pace.opensMs(method, lane, nowMs)));
    if (untilMs > nowMs) return { _tag: "Paced", untilMs };
    const admission = this.#breaker.admit(nowMs);
    if (admission._tag === "Admitted") for (const method of all) this.#pace.sent(method, nowMs);
    return admission;
  }

  /** Gives a ticket back. Does nothing when the request had an outcome. */
  abandon(ticket: Ticket): void {
    this.#breaker.abandoned(ticket);
  }

  /** The fault that last kept callers away, null before the first. */
  get lastFault(): NodeFault | null {
    return this.#lastFault;
  }

  /** The decoded answer to a request. A malformed answer counts as a fault of the node, like a broken connection. */
  ask<A>(request: RpcRequest<A>, ticket: Ticket): Effect.Effect<A, NodeFailure> {
    const { method, params, mayShare } = request;
    const answer =
      mayShare === true
        ? this.#client.askTogether(method, params, this.#limits)
        : this.#client.ask(method, params, this.#limits);
    const read = (result: unknown) => this.#read(method, request.decode(result));
    if (method !== "getGenesisHash")
      return this.#judged(Effect.flatMap(this.#confirmed(answer), read), ticket);
    // This answer is the genesis hash itself, so no second request is needed to check the ledger.
    const proved = Effect.tap(answer, (hash) => this.#identity.judge(this.#client, hash));
    return this.#judged(Effect.flatMap(proved, read), ticket);
  }

  /**
   * The answers to two requests, sent one after the other; null for a second one that the first answer makes unneeded.
   * When either fails, both fail.
   */
  askInTurn<A, B>(
    first: RpcRequest<A>,
    second: RpcRequest<B>,
    ticket: Ticket,
    {
      before,
      isNeeded = () => true,
    }: {
      readonly before?: RpcRequest<void> | undefined;
      readonly isNeeded?: ((answer: A) => boolean) | undefined;
    },
  ): Effect.Effect<readonly [A, B | null], NodeFailure> {
    const ask = <C>({ method, params, decode }: RpcRequest<C>) =>
      Effect.flatMap(this.#client.ask(method, params, this.#limits), (result) =>
        this.#read(method, decode(result)),
      );
    const both = Effect.flatMap(ask(first), (one) =>
      isNeeded(one)
        ? Effect.map(ask(second), (other): readonly [A, B | null] => [one, other])
        : Effect.succeed<readonly [A, B | null]>([one, null]),
    );
    const all = before === undefined ? both : Effect.andThen(ask(before), both);
    return this.#judged(this.#confirmed(all), ticket);
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
    return Effect.andThen(this.#identity.confirm(this.#client), answer);
  }

  get #limits(): PoolLimits {
    return this.#config.pools[this.#pool];
  }

  #judged<A>(answer: Effect.Effect<A, NodeFailure>, ticket: Ticket): Effect.Effect<A, NodeFailure> {
    const timed = Effect.flatMap(monotonicMs, (beganMs) =>
      Effect.tap(answer, () =>
        Effect.map(monotonicMs, (nowMs) => this.tally.answered(nowMs - beganMs)),
      ),
    );
    return timed.pipe(
      Effect.tap(() => {
        this.#breaker.succeeded(ticket);
        return this.#answersAgain;
      }),
      Effect.tapError((failure) => Effect.sync(() => this.tally.failed(failure))),
      Effect.tapError((failure) => {
        const { kind } = failure._tag === "RpcRefusal" ? { kind: null } : failure;
        const isOutOfReach = kind === "behind" || kind === "slot_beyond_reach";
        return isOutOfReach
          ? Effect.map(monotonicMs, (nowMs) => this.#identity.doubtSlots(this.#client, nowMs))
          : Effect.void;
      }),
      Effect.tapError((failure) => {
        if (failure._tag === "NodeFault" && failure.kind !== "rate_limited")
          return this.#leave(ticket, failure);
        this.#breaker.succeeded(ticket);
        return failure._tag === "NodeFault" ? this.#slow(failure) : Effect.void;
      }),
    );
  }

  #read<A>(method: string, reading: Reading<A>): Effect.Effect<A, NodeFailure> {
    const { node } = this.#client;
    this.#pace.answered(method);
    if (reading === "behind") {
      return Effect.fail(new NodeUnable({ node, method, kind: "behind", code: null }));
    }
    return typeof reading === "string"
      ? Effect.fail(new NodeFault({ node, method, kind: reading, code: null, retryAfterMs: null }))
      : Effect.map(LastAnswer, (last) => {
          if (last !== null) last.source = { node, method, index: this.index };
          return reading.value;
        });
  }

  /** Keeps away from one method for a while. The node's other methods stay open. */
  readonly #slow = Effect.fnUntraced({ self: this }, function* (fault: NodeFault) {
    const { backoffBaseMs, backoffCapMs, retryAfterCapMs } = this.#config;
    const share = yield* backoffMs(1, 1, 1);
    const retryAfterMs =
      fault.retryAfterMs === null ? null : Math.min(fault.retryAfterMs, retryAfterCapMs);
    const nowMs = yield* monotonicMs;
    const wasOpen = this.#pace.refused(
      fault.method,
      retryAfterMs,
      nowMs,
      (refusals) => share * Math.min(backoffCapMs, backoffBaseMs * 2 ** Math.min(refusals - 1, 52)),
    );
    this.#lastFault = fault;
    if (wasOpen)
      yield* Effect.logWarning("a ledger node limits requests for a method").pipe(
        Effect.annotateLogs({ fault: ledgerFaultText(ledgerFaultOf(fault)) }),
      );
  });

  readonly #answersAgain = Effect.suspend(() => {
    if (this.#told === null) return Effect.void;
    this.#told = null;
    const { node } = this.#client;
    return Effect.annotateLogs(Effect.logInfo("the ledger node answers again"), { node });
  });

  readonly #leave = Effect.fnUntraced({ self: this }, function* (ticket: Ticket, fault: NodeFault) {
    if (fault.kind === "unreachable") this.#identity.doubt(this.#client);
    const { backoffBaseMs, backoffCapMs, retryAfterCapMs } = this.#config;
    const ownMs = yield* backoffMs(this.#breaker.failures + 1, backoffBaseMs, backoffCapMs);
    const coolDownMs = Math.max(ownMs, Math.min(fault.retryAfterMs ?? 0, retryAfterCapMs));
    const untilMs = (yield* monotonicMs) + coolDownMs;
    if (!this.#breaker.failed(ticket, untilMs)) return;
    this.tally.paused(untilMs);
    this.#lastFault = fault;
    // Each further attempt that ends alike is no news.
    const tell = this.#told === fault.kind ? Effect.logDebug : Effect.logWarning;
    this.#told = fault.kind;
    yield* tell("ledger node paused").pipe(
      Effect.annotateLogs({
        fault: ledgerFaultText(ledgerFaultOf(fault)),
        coolDownMs: Math.round(coolDownMs),
      }),
    );
  });
}
