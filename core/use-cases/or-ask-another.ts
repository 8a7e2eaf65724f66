import { Effect, Metric } from "effect";
import {
  type AnswerSource,
  AskAnotherNode,
  LastAnswer,
  LedgerUnavailable,
} from "../../ports/ledger/ledger.ts";

/**
 * Counts the answers of nodes that this process refused. Without labels: accounts that contradicted the ledger's count
 * and head in a sync. By node and method: answers that contradicted the index.
 */
export const contradictoryAnswers = Metric.gauge("ledger_contradictory_answers", {
  description:
    "Answers of nodes that were refused, in this process. Without labels: accounts that contradicted the ledger's count and head in a sync. By node and method: answers that contradicted the index. Alarm when it grows.",
});

/** Counts and logs an answer that contradicts the index. `source` is null when nobody knows whose it was. */
const countContradiction = Effect.fnUntraced(function* (
  { cause }: LedgerUnavailable,
  source: AnswerSource | null,
) {
  const labels = { node: source?.node ?? "unknown", method: source?.method ?? "unknown" };
  yield* Metric.modify(Metric.withAttributes(contradictoryAnswers, labels), 1);
  yield* Effect.logWarning("a node's answer contradicts what is proved, and is refused", {
    ...labels,
    cause,
  });
});

/**
 * The failure for an answer that contradicts known facts. It is a fault of the node and tells nothing about the ledger.
 */
export const untrustworthy = (cause: string): LedgerUnavailable =>
  new LedgerUnavailable({ retryable: true, cause });

/** Fails for an answer of a slot below `notBefore`. Such a node is behind, and its answer must not be merged. */
export const refuseOlder = (slot: bigint, notBefore: bigint) =>
  slot < notBefore
    ? Effect.fail(untrustworthy(`answer of slot ${slot} is older than what is known, ${notBefore}`))
    : Effect.void;

type Failure = { readonly _tag: string };

/** The failure if it is a well-formed answer that contradicts what is known; null for any other failure. */
const contradictionIn = (failure: Failure): LedgerUnavailable | null => {
  if (failure._tag !== "LedgerUnavailable") return null;
  const unavailable = failure as LedgerUnavailable;
  return unavailable.retryable && unavailable.fault === undefined ? unavailable : null;
};

/**
 * Repeats a read at other nodes, up to `most` times, while the answer contradicts what is known. Fails as the last read
 * does. Each contradiction is counted for its node.
 */
export const orAskOthers = <A, E extends Failure, R>(
  read: Effect.Effect<A, E, R>,
  most: number,
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const last: { source: AnswerSource | null } = { source: null };
    const counted = Effect.tapError(read, (failure) => {
      const contradiction = contradictionIn(failure);
      return contradiction === null ? Effect.void : countContradiction(contradiction, last.source);
    });
    // Not an Effect schedule: its steps cost a twentieth of a read, and nearly every read succeeds the first time.
    const attempt = (left: number): Effect.Effect<A, E, R> =>
      counted.pipe(
        Effect.catch((failure) =>
          left === 0 || contradictionIn(failure) === null
            ? Effect.fail(failure)
            : Effect.flatMap(Effect.flatten(AskAnotherNode), (isAnother) =>
                isAnother ? attempt(left - 1) : Effect.fail(failure),
              ),
        ),
      );
    return Effect.provideService(attempt(most), LastAnswer, last);
  });

/** `orAskOthers` with at most one more read, so that a request waits for at most two nodes. */
export const orAskAnother = <A, E extends Failure, R>(
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => orAskOthers(read, 1);
