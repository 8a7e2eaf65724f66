import { Effect } from "effect";
import { AskAnotherNode } from "../../ports/ledger/ask-another-node.ts";
import type { LedgerUnavailable } from "../../ports/ledger/ledger.ts";

/** Whether an answer was understood and contradicts what is known. Another node's need not. */
const contradicts = (failure: { readonly _tag: string }): boolean => {
  if (failure._tag !== "LedgerUnavailable") return false;
  const { retryable, fault } = failure as LedgerUnavailable;
  return retryable && fault === undefined;
};

/**
 * Makes a read once more, at another node first, when an answer contradicts what is known and there is another node. Fails as the last of the reads
 * does.
 */
export const orAskAnother = <A, E extends { readonly _tag: string }, R>(
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> =>
  Effect.retry(read, {
    times: 1,
    while: (failure) =>
      contradicts(failure)
        ? Effect.flatMap(AskAnotherNode, (askAnother) => askAnother)
        : Effect.succeed(false),
  });
