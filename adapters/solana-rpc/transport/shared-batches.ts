import { Deferred, Effect, Exit } from "effect";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";

/**
 * Runs all effects and succeeds with the first success. The others continue in the background. When all fail, it fails
 * with the first failure for which `tells` holds, otherwise with the first one.
 */
export const firstToSucceed = <A, E>(
  all: ReadonlyArray<Effect.Effect<A, E>>,
  tells: (failure: E) => boolean,
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const outcome = yield* Deferred.make<A, E>();
    const failed: Array<Exit.Failure<A, E>> = [];
    const telling = (exit: Exit.Exit<A, E>): boolean => {
      const failure = Exit.findErrorOption(exit);
      return failure._tag === "Some" && tells(failure.value);
    };
    for (const each of all) {
      yield* each.pipe(
        Effect.exit,
        Effect.tap((exit) => {
          if (Exit.isSuccess(exit)) return Deferred.done(outcome, exit);
          failed.push(exit);
          if (failed.length < all.length) return Effect.void;
          return Deferred.done(outcome, failed.find(telling) ?? failed[0] ?? exit);
        }),
        Effect.forkDetach,
      );
    }
    return yield* Deferred.await(outcome);
  });

/** The most requests in one batch. Providers allow at least this many. */
const MOST_IN_BATCH = 50;
/** How long a node that refused a batch gets single requests, milliseconds. */
const REFUSED_MS = 600_000;

/** How requests reach one node, alone or together. */
type Sending<E> = {
  readonly single: (params: ReadonlyArray<unknown>) => Effect.Effect<unknown, E>;
  /** The outcome of a batch; "refused" when the node does not take batches. */
  readonly batch: (
    all: ReadonlyArray<ReadonlyArray<unknown>>,
  ) => Effect.Effect<BatchAnswer<E> | "refused">;
};

/** One outcome for each request of a batch, in order, and whether the node limits requests. */
type BatchAnswer<E> = {
  readonly answers: ReadonlyArray<Effect.Effect<unknown, E>>;
  readonly isLimited: boolean;
};

type Waiting<E> = {
  readonly params: ReadonlyArray<unknown>;
  readonly outcome: Deferred.Deferred<unknown, E>;
};

/**
 * Sends requests of one method that are made at the same time as one JSON-RPC batch. Whether a node takes batches is
 * found out by asking; one that does not gets single requests. The sending goes on when a caller leaves.
 */
export class SharedBatches<E> {
  #waiting: Array<Waiting<E>> = [];
  #refusedMs: number | null = null;
  /** The most requests in the next batch. A batch above the node's rate limit would always be refused. */
  #most = MOST_IN_BATCH;

  /** The answer to one request. */
  ask(params: ReadonlyArray<unknown>, sending: Sending<E>): Effect.Effect<unknown, E> {
    return Effect.suspend(() => {
      const outcome = Deferred.makeUnsafe<unknown, E>();
      this.#waiting.push({ params, outcome });
      const isFirst = this.#waiting.length === 1;
      const send = isFirst ? Effect.forkDetach(this.#sendAll(sending)) : Effect.void;
      return Effect.andThen(send, Deferred.await(outcome));
    });
  }

  /** Sends what waits once the fibers that run now have added theirs. */
  readonly #sendAll = Effect.fnUntraced({ self: this }, function* (sending: Sending<E>) {
    yield* Effect.yieldNow;
    const all = this.#waiting.splice(0);
    while (all.length > 0) yield* this.#send(all.splice(0, this.#most), sending);
  });

  readonly #send = Effect.fnUntraced(
    { self: this },
    function* (some: ReadonlyArray<Waiting<E>>, { single, batch }: Sending<E>) {
      const nowMs = yield* monotonicMs;
      const takesBatches = this.#refusedMs === null || nowMs - this.#refusedMs > REFUSED_MS;
      const together =
        some.length > 1 && takesBatches ? yield* batch(some.map(({ params }) => params)) : null;
      if (together === "refused") this.#refusedMs = nowMs;
      const answered = together === "refused" ? null : together;
      if (answered !== null)
        this.#most = answered.isLimited
          ? Math.max(1, Math.floor(some.length / 2))
          : Math.min(MOST_IN_BATCH, this.#most + 1);
      yield* Effect.forEach(
        some,
        ({ params, outcome }, i) => {
          const answer = answered?.answers[i] ?? single(params);
          return Effect.flatMap(Effect.exit(answer), (exit) => Deferred.done(outcome, exit));
        },
        { concurrency: "unbounded", discard: true },
      );
    },
  );
}
