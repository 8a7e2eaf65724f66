import { Effect, Result } from "effect";
import type { Lane } from "../../../ports/ledger/ledger-lane.ts";
import {
  type LedgerFailure,
  type LedgerFault,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../ports/ledger/ledger.ts";
import { backoffMs } from "../../../core/use-cases/backoff.ts";
import type { Ticket } from "../transport/circuit-breaker.ts";
import { ledgerFaultOf, timeoutFault } from "../transport/ledger-fault.ts";
import { monotonicMs } from "../../../core/use-cases/monotonic-time.ts";
import { type NotAdmitted, type Patience, waitForOne } from "./wait-for-one.ts";
import type { NodeFailure, PooledNode } from "./pooled-node.ts";
import type { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";
import type { PoolLimits, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** Asks one node, under the ticket that the node gave out. */
export type AskNode<A> = (node: PooledNode, ticket: Ticket) => Effect.Effect<A, NodeFailure>;

/** One call to the nodes: what may be asked of each, and how long it may take. */
export type PoolCall<A> = {
  /** In order of preference. */
  readonly nodes: ReadonlyArray<PooledNode>;
  readonly ask: AskNode<A>;
  /** The JSON-RPC methods that `ask` uses. */
  readonly methods: readonly [string, ...ReadonlyArray<string>];
  readonly lane: Lane;
  readonly limits: PoolLimits;
  readonly config: SolanaRpcConfig;
  /** How long nodes that are behind are waited for, milliseconds; by default as long as the pool's limits say. */
  readonly behindPatienceMs?: number | undefined;
};

/** Why one request to one node failed. */
type FailedAttempt = NodeFault | NodeUnable;

type Outcome<A> =
  | { readonly _tag: "Answered"; readonly value: A }
  | { readonly _tag: "Failed"; readonly node: PooledNode; readonly attempt: FailedAttempt }
  | NoneFree;
type NoneFree = { readonly _tag: "NoneFree"; readonly admissions: ReadonlyArray<NotAdmitted> };

/** Wait before nodes that are behind are asked again, milliseconds, before jitter: within a slot, which takes 400. */
const BEHIND_BASE_MS = 100;
const BEHIND_CAP_MS = 250;

/** The first node that may be asked now, with its ticket; without one, why each node refused. */
const firstFree = <A>(
  nodes: ReadonlyArray<PooledNode>,
  { methods, lane }: PoolCall<A>,
  nowMs: number,
) => {
  const admissions: Array<NotAdmitted> = [];
  for (const node of nodes) {
    const admission = node.admit(methods, lane, nowMs);
    if (admission._tag === "Admitted") return { ...admission, node };
    admissions.push(admission);
  }
  return { _tag: "NoneFree", admissions } as const;
};

const askFirstFree = <A>(
  nodes: ReadonlyArray<PooledNode>,
  call: PoolCall<A>,
): Effect.Effect<Outcome<A>, RpcRefusal> =>
  Effect.acquireUseRelease(
    Effect.map(monotonicMs, (nowMs) => firstFree(nodes, call, nowMs)),
    Effect.fnUntraced(function* (choice): Effect.fn.Return<Outcome<A>, RpcRefusal> {
      if (choice._tag === "NoneFree") return choice;
      const { node, ticket } = choice;
      const answer = yield* Effect.result(call.ask(node, ticket));
      if (Result.isSuccess(answer)) return { _tag: "Answered", value: answer.success };
      if (answer.failure._tag === "RpcRefusal") return yield* answer.failure;
      return { _tag: "Failed", node, attempt: answer.failure };
    }),
    (choice) =>
      Effect.sync(() => {
        if (choice._tag === "Admitted") choice.node.abandon(choice.ticket);
      }),
  );

/** Whether the same request may succeed at the same node later. */
const isPassing = (attempt: FailedAttempt): boolean =>
  attempt._tag === "NodeFault"
    ? attempt.kind !== "oversize" && attempt.kind !== "wrong_ledger"
    : attempt.kind === "behind";

/** Whether the node is well and only asks for time. Such an answer costs no attempt. */
const asksForTime = (attempt: FailedAttempt, lane: Lane): boolean => {
  if (attempt._tag !== "NodeFault") return attempt.kind === "behind";
  const { kind, retryAfterMs } = attempt;
  return kind === "rate_limited" && (retryAfterMs ?? (lane === "background" ? 1 : 0)) > 0;
};

/** The failure of a call that no node answered. */
const failure = <A>(
  last: FailedAttempt | null,
  { nodes, limits }: PoolCall<A>,
  retryable: boolean,
): LedgerFailure => {
  const cause = last ?? nodes.find((node) => node.lastFault !== null)?.lastFault;
  const fault: { readonly fault?: LedgerFault } = cause ? { fault: ledgerFaultOf(cause) } : {};
  return last?.kind === "timeout"
    ? new LedgerTimeout({ timeoutMs: limits.requestTimeoutMs, ...fault })
    : new LedgerUnavailable({ retryable: retryable || last === null, cause, ...fault });
};

/** As `untilAnswered`; also fails with `LedgerTimeout` when the whole call exceeds the pool's time limit for its lane. */
export const failOver = <A>(call: PoolCall<A>): Effect.Effect<A, LedgerFailure | RpcRefusal> => {
  const { limits, lane, methods } = call;
  const timeoutMs = lane === "live" ? limits.callTimeoutMs : limits.backgroundTimeoutMs;
  return Effect.timeoutOrElse(untilAnswered(call), {
    duration: timeoutMs,
    orElse: () => Effect.fail(new LedgerTimeout({ timeoutMs, fault: timeoutFault(methods[0]) })),
  });
};

/**
 * Asks the nodes in order, and again after a backoff, until one answers or refuses. No other code retries requests to
 * the ledger. A node that is behind, or limits requests, keeps its attempts: it is waited for within the caller's
 * patience. Fails with `LedgerTimeout` when the last node asked did not answer in time, and at once when no node may be
 * asked within that patience.
 */
export const untilAnswered = Effect.fnUntraced(function* <A>(
  call: PoolCall<A>,
): Effect.fn.Return<A, LedgerFailure | RpcRefusal> {
  const { nodes, lane, limits, config } = call;
  const asksLeft = new Map(nodes.map((node) => [node, config.attemptsPerNode]));
  const behind = new Set<PooledNode>();
  const patience: Patience = {
    closedMs: limits.patienceMs,
    pacedMs: lane === "live" ? limits.patienceMs : limits.backgroundPatienceMs,
    behindMs: call.behindPatienceMs ?? limits.behindPatienceMs,
  };
  let timesBehind = 0;
  let retryable = false;
  let last: FailedAttempt | null = null;
  for (;;) {
    const askable = [...asksLeft.keys()].filter((node) => !behind.has(node));
    const outcome: Outcome<A> = yield* askFirstFree(askable, call);
    if (outcome._tag === "Answered") return outcome.value;
    if (outcome._tag === "Failed") {
      const { node, attempt } = outcome;
      last = attempt;
      const passing = isPassing(attempt);
      retryable ||= passing;
      const cost = asksForTime(attempt, lane) ? 0 : 1;
      const left = passing ? (asksLeft.get(node) ?? 0) - cost : 0;
      if (left > 0) asksLeft.set(node, left);
      else asksLeft.delete(node);
      if (attempt.kind === "behind") behind.add(node);
      continue;
    }
    const behindMs: number | null =
      behind.size === 0 ? null : yield* backoffMs(++timesBehind, BEHIND_BASE_MS, BEHIND_CAP_MS);
    const canWait: boolean = yield* waitForOne(outcome.admissions, behindMs, patience);
    if (!canWait) return yield* failure(last, call, retryable);
    behind.clear();
  }
});
