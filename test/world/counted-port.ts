import { Effect, Stream } from "effect";
import { LedgerUnavailable, type Ledger } from "../../ports/ledger/ledger.ts";

const failure = () => new LedgerUnavailable({ retryable: true, cause: "made to fail" });

/**
 * A ledger whose `failAt`th answer is a failure. Counts the answer of each call, and each chunk and the end of a
 * stream, from 1. 0 lets all pass.
 */
export const countAnswers = () => {
  const state = { failAt: 0, count: 0 };
  const passes = () => ++state.count !== state.failAt;
  const checked = <A, E>(answer: Effect.Effect<A, E>) =>
    Effect.filterOrFail(answer, passes, failure);
  const checkedStream = <A, E>(stream: Stream.Stream<A, E>) =>
    stream.pipe(
      Stream.mapEffect((chunk) => checked(Effect.succeed(chunk))),
      Stream.concat(Stream.unwrap(checked(Effect.succeed(Stream.empty)))),
    );
  const wrap = (ledger: Ledger["Service"]): Ledger["Service"] => ({
    genesisHash: checked(ledger.genesisHash),
    confirmIdentity: checked(ledger.confirmIdentity),
    tip: (commitment) => checked(ledger.tip(commitment)),
    readAccounts: (...asked) => checked(ledger.readAccounts(...asked)),
    programAccounts: (...asked) => checkedStream(ledger.programAccounts(...asked)),
    history: (address, before) => checked(ledger.history(address, before)),
    transaction: (signature) => checked(ledger.transaction(signature)),
  });
  return { state, wrap };
};
