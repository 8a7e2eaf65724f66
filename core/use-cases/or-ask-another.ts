import { Effect, Metric } from "effect";
import {
  type AnswerSource,
  AskAnotherNode,
  ExceptNode,
  LastAnswer,
  type LedgerContradiction,
  LedgerUnavailable,
  NodeCount,
} from "../../ports/ledger/ledger.ts";

/**
 * Answers of nodes that contradict what is proved, in this process: without labels those that contradicted the ledger's
 * root in a sync, and by node and method those that were refused because they contradict what the index proves.
 */
export const contradictoryAnswers = Metric.gauge("ledger_contradictory_answers", {
  description:
    "Answers of nodes that were refused, in this process. Without labels: accounts that contradicted the ledger's root in a sync. By node and method: answers that contradicted the index. Alarm when it grows.",
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
export const untrustworthy = (
  cause: string,
  contradicts: LedgerContradiction = "index",
): LedgerUnavailable => new LedgerUnavailable({ retryable: true, cause, contradicts });

/** Fails for an answer of a slot below `notBefore`. Such a node is behind, and its answer must not be merged. */
export const refuseOlder = (slot: bigint, notBefore: bigint) =>
  slot < notBefore
    ? Effect.fail(untrustworthy(`answer of slot ${slot} is older than what is known, ${notBefore}`))
    : Effect.void;

type Failure = { readonly _tag: string };
/** Whose answer was the last. */
type Noted = { source: AnswerSource | null };

/**
 * The failure of an answer that was understood and contradicts what is known, null for any other failure. Another node
 * may answer otherwise.
 */
const contradictionIn = (failure: Failure): LedgerUnavailable | null => {
  if (failure._tag !== "LedgerUnavailable") return null;
  const found = failure as LedgerUnavailable;
  return found.retryable && found.fault === undefined ? found : null;
};

/**
 * Makes a read up to `most` more times, each at another node first, while the answer contradicts what is known and
 * there is another node. Fails as the last of the reads does. Each such answer is counted for its node. Whoever asks
 * for the reads and notes whose answer came last is told it too.
 */
export const orAskOthers = <A, E extends Failure, R>(
  read: Effect.Effect<A, E, R>,
  most: number,
): Effect.Effect<A, E, R> =>
  Effect.flatMap(LastAnswer, (outer) => {
    const last: Noted = { source: null };
    const counted = Effect.tapError(read, (failure) => {
      const contradiction = contradictionIn(failure);
      return contradiction === null ? Effect.void : countContradiction(contradiction, last.source);
    });
    // A schedule's steps cost a twentieth of a read, and nearly every read is the first and last.
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
    const reads = Effect.provideService(attempt(most), LastAnswer, last);
    if (outer === null) return reads;
    const tell = Effect.sync(() => void (outer.source = last.source ?? outer.source));
    return Effect.ensuring(reads, tell);
  });

/** Makes a read once more at most, as `orAskOthers` does: a request waits for two nodes and no more. */
export const orAskAnother = <A, E extends Failure, R>(
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => orAskOthers(read, 1);

/** Runs work with a note of whose answer it got last: the note of whoever asks for the work, if there is one. */
const noting = <A, E, R>(work: (last: Noted) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(LastAnswer, (outer) => {
    const last: Noted = outer ?? { source: null };
    last.source = null;
    return Effect.provideService(work(last), LastAnswer, last);
  });

/**
 * Runs work at every node but the one that answered last. Null, without running it, where no other is configured or
 * no node has answered.
 */
const atAnother = <A, E, R>(
  { source }: Noted,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A | null, E, R> =>
  Effect.flatMap(NodeCount, (count) =>
    count < 2 || source === null
      ? Effect.succeed(null)
      : Effect.provideService(work, ExceptNode, source.index),
  );

/**
 * Makes reads whose failures of these tags are a "no" again at another node then: a node that has lost its state denies
 * what is there. The failure is the "no" of the last node, with `nodes`, how many said it: 1 where only one is
 * configured. It is the other node's failure when that gives no usable answer. A read that succeeds, or fails otherwise,
 * costs nothing more.
 */
export const orTwoSayNo =
  (...no: ReadonlyArray<string>) =>
  <A, E extends Failure, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    noting((last) =>
      read.pipe(
        Effect.catch((failure) => {
          if (!no.includes(failure._tag) || last.source === null) return Effect.fail(failure);
          return Effect.flatMap(atAnother(last, Effect.result(read)), (second) => {
            if (second === null) return Effect.fail(Object.assign(failure, { nodes: 1 }));
            if (second._tag === "Success") return Effect.succeed(second.success);
            const said = second.failure;
            return Effect.fail(no.includes(said._tag) ? Object.assign(said, { nodes: 2 }) : said);
          });
        }),
      ),
    );

/** The same for a read whose value is the "no", as `isNo` tells. Returns the last node's value and how many nodes gave it. */
export const ofTwoNodes = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  isNo: (value: A) => boolean,
): Effect.Effect<{ readonly value: A; readonly nodes: number }, E, R> =>
  noting((last) =>
    Effect.flatMap(read, (value) =>
      isNo(value)
        ? Effect.map(
            atAnother(
              last,
              Effect.map(read, (again) => ({ value: again })),
            ),
            (second) => (second === null ? { value, nodes: 1 } : { value: second.value, nodes: 2 }),
          )
        : Effect.succeed({ value, nodes: 1 }),
    ),
  );
