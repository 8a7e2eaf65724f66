import { Effect, Result } from "effect";
import { type LedgerFailure, LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger.ts";
import { backoffMs } from "../transport/backoff.ts";
import type { Admission, Ticket } from "../transport/circuit-breaker.ts";
import { monotonicMs } from "../transport/monotonic-time.ts";
import type { NodeFailure, PooledNode } from "./pooled-node.ts";
import type { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";
import type { LaneLimits, SolanaRpcConfig } from "./solana-rpc-config.ts";

/** Asks one node, which has given the ticket. */
export type AskNode<A> = (node: PooledNode, ticket: Ticket) => Effect.Effect<A, NodeFailure>;

/** How a node let one request down. */
type Letdown = NodeFault | NodeUnable;

type Outcome<A> =
  | { readonly _tag: "Answered"; readonly value: A }
  | { readonly _tag: "LetDown"; readonly node: PooledNode; readonly letdown: Letdown }
  | NoneFree;
type NoneFree = {
  readonly _tag: "NoneFree";
  readonly admissions: ReadonlyArray<Exclude<Admission, { readonly _tag: "Admitted" }>>;
};

/** The first node that may be asked now, with its ticket. */
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
      return { _tag: "LetDown", node, letdown: answer.failure };
    }),
    (choice) =>
      Effect.sync(() => {
        if (choice._tag === "Admitted") choice.node.abandon(choice.ticket);
      }),
  );

/** Whether the same node may do better on the same request later. */
const mayPass = (letdown: Letdown): boolean =>
  letdown._tag === "NodeFault"
    ? letdown.kind !== "oversize" && letdown.kind !== "wrong_ledger"
    : letdown.kind === "behind";

/**
 * Waits until a node may be free, and gives the milliseconds that took; null, without waiting, when none
 * will be within `patienceMs`. `behindMs` is when to come back to nodes that are behind.
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

/** What a call that nobody answered comes to. */
const failure = (
  last: Letdown | null,
  nodes: ReadonlyArray<PooledNode>,
  retryable: boolean,
  requestTimeoutMs: number,
): LedgerFailure => {
  if (last?.kind === "timeout") return new LedgerTimeout({ timeoutMs: requestTimeoutMs });
  const cause = last ?? nodes.find((node) => node.lastFault !== null)?.lastFault;
  return new LedgerUnavailable({ retryable: retryable || last === null, cause });
};

/**
 * As `untilAnswered`, and fails with a timeout when the whole call took longer than the lane allows.
 */
export const failOver = <A>(
  nodes: ReadonlyArray<PooledNode>,
  ask: AskNode<A>,
  limits: LaneLimits,
  config: SolanaRpcConfig,
): Effect.Effect<A, LedgerFailure | RpcRefusal> =>
  Effect.timeoutOrElse(untilAnswered(nodes, ask, limits, config), {
    duration: limits.callTimeoutMs,
    orElse: () => Effect.fail(new LedgerTimeout({ timeoutMs: limits.callTimeoutMs })),
  });

/**
 * Asks the nodes in their order, then the same again after a while, until one answers or refuses: the only
 * place that waits and retries. Fails with a timeout when the last node asked did not answer in time,
 * and at once when no node may be asked soon enough.
 */
export const untilAnswered = Effect.fnUntraced(function* <A>(
  nodes: ReadonlyArray<PooledNode>,
  ask: AskNode<A>,
  { patienceMs, requestTimeoutMs }: LaneLimits,
  config: SolanaRpcConfig,
): Effect.fn.Return<A, LedgerFailure | RpcRefusal> {
  const asksLeft = new Map(nodes.map((node) => [node, config.attemptsPerNode]));
  const behind = new Set<PooledNode>();
  let waitedMs = 0;
  let timesBehind = 0;
  let retryable = false;
  let last: Letdown | null = null;
  for (;;) {
    const askable = [...asksLeft.keys()].filter((node) => !behind.has(node));
    const outcome: Outcome<A> = yield* askFirstFree(askable, ask);
    if (outcome._tag === "Answered") return outcome.value;
    if (outcome._tag === "LetDown") {
      const { node, letdown } = outcome;
      last = letdown;
      const passing = mayPass(letdown);
      retryable ||= passing;
      const left = passing ? (asksLeft.get(node) ?? 0) - 1 : 0;
      if (left > 0) asksLeft.set(node, left);
      else asksLeft.delete(node);
      if (left > 0 && letdown.kind === "behind") behind.add(node);
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
