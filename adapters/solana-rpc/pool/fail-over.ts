import { Effect, Result } from "effect";
import { type LedgerFailure, LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger.ts";
import { backoffMs } from "../transport/backoff.ts";
import type { Admission, Ticket } from "../transport/circuit-breaker.ts";
import { monotonicMs } from "../transport/monotonic-time.ts";
import type { NodeFailure, PooledNode } from "./pooled-node.ts";
import type { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";
import type { PoolLimits, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** Asks one node, under the ticket that the node gave out. */
export type AskNode<A> = (node: PooledNode, ticket: Ticket) => Effect.Effect<A, NodeFailure>;

/** Why one request to one node failed. */
type FailedAttempt = NodeFault | NodeUnable;

type Outcome<A> =
  | { readonly _tag: "Answered"; readonly value: A }
  | { readonly _tag: "Failed"; readonly node: PooledNode; readonly attempt: FailedAttempt }
  | NoneFree;
type NoneFree = {
  readonly _tag: "NoneFree";
  readonly admissions: ReadonlyArray<Exclude<Admission, { readonly _tag: "Admitted" }>>;
};

/** The first node that may be asked now, with its ticket; without one, why each node refused. */
const firstFree = (nodes: ReadonlyArray<PooledNode>, nowMs: number) => {
  const admissions: Array<NoneFree["admissions"][number]> = [];
  for (const node of nodes) {
    const admission = node.admit(nowMs);
    if (admission._tag === "Admitted") return { ...admission, node };
    admissions.push(admission);
  }
  return { _tag: "NoneFree", admissions } as const;
};

const askFirstFree = <A>(
  nodes: ReadonlyArray<PooledNode>,
  ask: AskNode<A>,
): Effect.Effect<Outcome<A>, RpcRefusal> =>
  Effect.acquireUseRelease(
    Effect.map(monotonicMs, (nowMs) => firstFree(nodes, nowMs)),
    Effect.fnUntraced(function* (choice): Effect.fn.Return<Outcome<A>, RpcRefusal> {
      if (choice._tag === "NoneFree") return choice;
      const { node, ticket } = choice;
      const answer = yield* Effect.result(ask(node, ticket));
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

/**
 * Waits until a node may be asked and returns the milliseconds waited. Returns null at once when no node can be asked
 * within `patienceMs`. `behindMs` is the wait before nodes that are behind are asked again.
 */
const waitForOne = Effect.fnUntraced(function* (
  { admissions }: NoneFree,
  behindMs: number,
  patienceMs: number,
) {
  const startMs = yield* monotonicMs;
  const probes: Array<Effect.Effect<void>> = [];
  let soonestMs = behindMs;
  for (const admission of admissions) {
    if (admission._tag === "Probing") probes.push(admission.over);
    else soonestMs = Math.min(soonestMs, admission.untilMs - startMs);
  }
  const inTime = soonestMs <= patienceMs || probes.length > 0;
  if (patienceMs <= 0 || !inTime) return null;
  const sleep = Effect.sleep(Math.ceil(Math.min(soonestMs, patienceMs)));
  yield* Effect.raceAllFirst([sleep, ...probes]);
  return (yield* monotonicMs) - startMs;
});

/** The failure of a call that no node answered. */
const failure = (
  last: FailedAttempt | null,
  nodes: ReadonlyArray<PooledNode>,
  retryable: boolean,
  requestTimeoutMs: number,
): LedgerFailure => {
  if (last?.kind === "timeout") return new LedgerTimeout({ timeoutMs: requestTimeoutMs });
  const cause = last ?? nodes.find((node) => node.lastFault !== null)?.lastFault;
  return new LedgerUnavailable({ retryable: retryable || last === null, cause });
};

/** As `untilAnswered`; also fails with `LedgerTimeout` when the whole call exceeds the pool's `callTimeoutMs`. */
export const failOver = <A>(
  nodes: ReadonlyArray<PooledNode>,
  ask: AskNode<A>,
  limits: PoolLimits,
  config: SolanaRpcConfig,
): Effect.Effect<A, LedgerFailure | RpcRefusal> =>
  Effect.timeoutOrElse(untilAnswered(nodes, ask, limits, config), {
    duration: limits.callTimeoutMs,
    orElse: () => Effect.fail(new LedgerTimeout({ timeoutMs: limits.callTimeoutMs })),
  });

/**
 * Asks the nodes in order, and again after a backoff, until one answers or refuses. No other code retries requests to
 * the ledger. Fails with `LedgerTimeout` when the last node asked did not answer in time, and at once when no node may
 * be asked within `patienceMs`.
 */
export const untilAnswered = Effect.fnUntraced(function* <A>(
  nodes: ReadonlyArray<PooledNode>,
  ask: AskNode<A>,
  { patienceMs, requestTimeoutMs }: PoolLimits,
  config: SolanaRpcConfig,
): Effect.fn.Return<A, LedgerFailure | RpcRefusal> {
  const asksLeft = new Map(nodes.map((node) => [node, config.attemptsPerNode]));
  const behind = new Set<PooledNode>();
  let waitedMs = 0;
  let timesBehind = 0;
  let retryable = false;
  let last: FailedAttempt | null = null;
  for (;;) {
    const askable = [...asksLeft.keys()].filter((node) => !behind.has(node));
    const outcome: Outcome<A> = yield* askFirstFree(askable, ask);
    if (outcome._tag === "Answered") return outcome.value;
    if (outcome._tag === "Failed") {
      const { node, attempt } = outcome;
      last = attempt;
      const passing = isPassing(attempt);
      retryable ||= passing;
      const left = passing ? (asksLeft.get(node) ?? 0) - 1 : 0;
      if (left > 0) asksLeft.set(node, left);
      else asksLeft.delete(node);
      if (left > 0 && attempt.kind === "behind") behind.add(node);
      continue;
    }
    const behindMs: number =
      behind.size === 0
        ? Number.POSITIVE_INFINITY
        : yield* backoffMs(++timesBehind, config.backoffBaseMs, config.backoffCapMs);
    const tookMs: number | null = yield* waitForOne(outcome, behindMs, patienceMs - waitedMs);
    if (tookMs === null) {
      return yield* failure(last, nodes, retryable, requestTimeoutMs);
    }
    waitedMs += tookMs;
    behind.clear();
  }
});
