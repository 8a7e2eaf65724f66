import { Effect, Metric } from "effect";
import type { LedgerUnavailable } from "../../ports/ledger/ledger.ts";
import type { AnswerSource } from "../../ports/ledger/last-answer.ts";

/**
 * Answers of nodes that contradict what is proved, in this process: without labels those that contradicted the ledger's
 * count and head in a sync, and by node and method those that were refused because they contradict what the index proves.
 */
export const contradictoryAnswers = Metric.gauge("ledger_contradictory_answers", {
  description:
    "Answers of nodes that were refused, in this process. Without labels: accounts that contradicted the ledger's count and head in a sync. By node and method: answers that contradicted the index. Alarm when it grows.",
});

/** Counts and logs an answer that contradicts the index. `source` is null when nobody knows whose it was. */
export const countContradiction = Effect.fnUntraced(function* (
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
