import { Effect } from "effect";
import { AskAnotherNode } from "../../ports/ledger/ask-another-node.ts";
import { type AnswerSource, LastAnswer } from "../../ports/ledger/last-answer.ts";
import type { LedgerUnavailable } from "../../ports/ledger/ledger.ts";
import { countContradiction } from "./contradictory-answers.ts";

type Failure = { readonly _tag: string };

/** The failure of an answer that was understood and contradicts what is known, null for any other failure. Another node may answer otherwise. */
const contradictionIn = (failure: Failure): LedgerUnavailable | null => {
  if (failure._tag !== "LedgerUnavailable") return null;
  const found = failure as LedgerUnavailable;
  return found.retryable && found.fault === undefined ? found : null;
};

/**
 * Makes a read up to `most` more times, each at another node first, while the answer contradicts what is known and there is another
 * node. Fails as the last of the reads does. Each such answer is counted for its node.
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
    return Effect.retry(counted, {
      times: most,
      while: (failure) =>
        contradictionIn(failure) === null
          ? Effect.succeed(false)
          : Effect.flatMap(AskAnotherNode, (askAnother) => askAnother),
    }).pipe(Effect.provideService(LastAnswer, last));
  });

/** Makes a read once more at most, as `orAskOthers` does: a request waits for two nodes and no more. */
export const orAskAnother = <A, E extends Failure, R>(
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => orAskOthers(read, 1);
