import { Effect } from "effect";
import { backoffMs } from "../../../core/use-cases/reconnect.ts";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import {
  type Lane,
  type LedgerFailure,
  type LedgerFault,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../ports/ledger/ledger.ts";
import type { Ticket } from "../transport/circuit-breaker.ts";
import {
  ledgerFaultOf,
  type NodeFailure,
  RpcRefusal,
  timeoutFault,
} from "../transport/rpc-failure.ts";
import type { PoolLimits, SolanaRpcConfig } from "./pool-config.ts";
import type { NodeAdmission, PooledNode } from "./pooled-node.ts";

/** Why a node may not be asked now. */
type NotAdmitted = Exclude<NodeAdmission, { readonly _tag: "Admitted" }>;

/**
 * How long a call still waits, milliseconds: for closed nodes, for nodes that limit requests, for nodes that are
 * behind.
 */
type Patience = { closedMs: number; pacedMs: number; behindMs: number };

/**
 * Waits until a node may be asked, and takes the time off the patience that covers it. False at once when no node can
 * be asked within that. `behindMs` is the wait before nodes that are behind are asked again, null when none is.
 */
const waitForOne = Effect.fnUntraced(function* (
  admissions: ReadonlyArray<NotAdmitted>,
  behindMs: number | null,
  patience: Patience,
) {
  const startMs = yield* monotonicMs;
  const probes: Array<Effect.Effect<void>> = [];
  const waits: Array<{ readonly ms: number; readonly of: keyof Patience }> = [];
  const consider = (ms: number, of: keyof Patience) => {
    if (patience[of] > 0 && ms <= patience[of]) waits.push({ ms, of });
  };
  if (behindMs !== null) consider(behindMs, "behindMs");
  for (const admission of admissions) {
    if (admission._tag === "Cooling") consider(admission.untilMs - startMs, "closedMs");
    else if (admission._tag === "Paced") consider(admission.untilMs - startMs, "pacedMs");
    else if (patience.closedMs > 0) probes.push(admission.over);
  }
  if (probes.length > 0) waits.push({ ms: patience.closedMs, of: "closedMs" });
  const [soonest] = waits.sort((one, other) => one.ms - other.ms);
  if (soonest === undefined) return false;
  const sleep = Effect.sleep(Math.ceil(soonest.ms));
  yield* Effect.raceAllFirst([sleep, ...probes]);
  patience[soonest.of] -= (yield* monotonicMs) - startMs;
  return true;
});

/**
 * For questions that no node has a reason to refuse. A refusal then means that node and adapter do not understand each
 * other, and a retry cannot help. The node's data is dropped.
 */
export const refusalAsUnavailable = <A>(
  effect: Effect.Effect<A, LedgerFailure | RpcRefusal>,
): Effect.Effect<A, LedgerFailure> =>
  Effect.catchTag(effect, "RpcRefusal", ({ node, method, code }) => {
    const cause = new RpcRefusal({ node, method, code, data: null });
    return Effect.fail(
      new LedgerUnavailable({ retryable: false, cause, fault: ledgerFaultOf(cause) }),
    );
  });

/** Asks one node, under the ticket that the node gave out. */
type AskNode<A> = (node: PooledNode, ticket: Ticket) => Effect.Effect<A, NodeFailure>;

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
  /** The most requests that `ask` makes one after another; without it, they may also wait for those of other calls. */
  readonly mostInTurn?: number;
};

/** Why one request to one node failed. */
type FailedAttempt = Exclude<NodeFailure, RpcRefusal>;

type Answered<A> = { readonly _tag: "Answered"; readonly value: A };
type Outcome<A> =
  | Answered<A>
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
  Effect.suspend(() => {
    let choice: ReturnType<typeof firstFree<A>> | null = null;
    const outcome = Effect.flatMap(monotonicMs, (nowMs): Effect.Effect<Outcome<A>, RpcRefusal> => {
      const chosen = (choice = firstFree(nodes, call, nowMs));
      if (chosen._tag === "NoneFree") return Effect.succeed(chosen);
      const { node, ticket } = chosen;
      const [preferred] = call.nodes;
      if (preferred !== undefined && preferred !== node) preferred.tally.passedOver();
      return Effect.matchEffect(call.ask(node, ticket), {
        onSuccess: (value) => Effect.succeed({ _tag: "Answered", value }),
        onFailure: (attempt) =>
          attempt._tag === "RpcRefusal"
            ? Effect.fail(attempt)
            : Effect.succeed({ _tag: "Failed", node, attempt }),
      });
    });
    return Effect.onExitPrimitive(outcome, () => {
      if (choice?._tag === "Admitted") choice.node.abandon(choice.ticket);
      return undefined;
    });
  });

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

/** What becomes of a call whose first attempt was not answered: as `untilAnswered`. */
const askedAgain = Effect.fnUntraced(function* <A>(
  call: PoolCall<A>,
  first: Exclude<Outcome<A>, Answered<A>>,
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
  let outcome: Outcome<A> = first;
  for (;;) {
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
    } else {
      const behindMs: number | null =
        behind.size === 0 ? null : yield* backoffMs(++timesBehind, BEHIND_BASE_MS, BEHIND_CAP_MS);
      const canWait: boolean = yield* waitForOne(outcome.admissions, behindMs, patience);
      if (!canWait) return yield* failure(last, call, retryable);
      behind.clear();
    }
    const askable = [...asksLeft.keys()].filter((node) => !behind.has(node));
    outcome = yield* askFirstFree(askable, call);
  }
});

/**
 * Asks the nodes in order, and again after a backoff, until one answers or refuses. No other code retries requests to
 * the ledger. A node that is behind, or limits requests, keeps its attempts: it is waited for within the caller's
 * patience. Fails with `LedgerTimeout` when the last node asked did not answer in time, and at once when no node may be
 * asked within that patience.
 */
export const untilAnswered = <A>(call: PoolCall<A>): Effect.Effect<A, LedgerFailure | RpcRefusal> =>
  Effect.flatMap(askFirstFree(call.nodes, call), (first) =>
    first._tag === "Answered" ? Effect.succeed(first.value) : askedAgain(call, first),
  );

/**
 * As `untilAnswered`; also fails with `LedgerTimeout` when the whole call exceeds the pool's time limit for its lane.
 */
export const failOver = <A>(call: PoolCall<A>): Effect.Effect<A, LedgerFailure | RpcRefusal> => {
  const { limits, lane, methods, mostInTurn = Number.POSITIVE_INFINITY } = call;
  const timeoutMs = lane === "live" ? limits.callTimeoutMs : limits.backgroundTimeoutMs;
  const within = (duration: number, calling: Effect.Effect<A, LedgerFailure | RpcRefusal>) =>
    Effect.timeoutOrElse(calling, {
      duration,
      orElse: () => Effect.fail(new LedgerTimeout({ timeoutMs, fault: timeoutFault(methods[0]) })),
    });
  if (mostInTurn * limits.requestTimeoutMs >= timeoutMs)
    return within(timeoutMs, untilAnswered(call));
  // The limits of its requests end the first attempt before. A timer of its own costs a twelfth of a read.
  return Effect.flatMap(monotonicMs, (startMs) =>
    Effect.flatMap(askFirstFree(call.nodes, call), (first) =>
      first._tag === "Answered"
        ? Effect.succeed(first.value)
        : Effect.flatMap(monotonicMs, (nowMs) =>
            within(timeoutMs - (nowMs - startMs), askedAgain(call, first)),
          ),
    ),
  );
};
