import { Deferred, Effect } from "effect";
import { monotonicMs } from "./monotonic-time.ts";

/** The most requests in one batch. Providers allow at least this many. */
const MOST_IN_BATCH = 50;
/** How long a node that refused a batch gets single requests, milliseconds. */
const REFUSED_MS = 600_000;

/** How requests reach one node, alone or together. */
export type Sending<E> = {
  readonly single: (params: ReadonlyArray<unknown>) => Effect.Effect<unknown, E>;
  /** One outcome for each request, in order; "refused" when the node does not take batches. */
  readonly batch: (
    all: ReadonlyArray<ReadonlyArray<unknown>>,
  ) => Effect.Effect<ReadonlyArray<Effect.Effect<unknown, E>> | "refused">;
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
    for (let at = 0; at < all.length; at += MOST_IN_BATCH)
      yield* this.#send(all.slice(at, at + MOST_IN_BATCH), sending);
  });

  readonly #send = Effect.fnUntraced(
    { self: this },
    function* (some: ReadonlyArray<Waiting<E>>, { single, batch }: Sending<E>) {
      const nowMs = yield* monotonicMs;
      const takesBatches = this.#refusedMs === null || nowMs - this.#refusedMs > REFUSED_MS;
      const answers =
        some.length > 1 && takesBatches ? yield* batch(some.map(({ params }) => params)) : null;
      if (answers === "refused") this.#refusedMs = nowMs;
      yield* Effect.forEach(
        some,
        ({ params, outcome }, i) => {
          const answer = answers === null || answers === "refused" ? single(params) : answers[i];
          return Effect.flatMap(Effect.exit(answer ?? single(params)), (exit) =>
            Deferred.done(outcome, exit),
          );
        },
        { concurrency: "unbounded", discard: true },
      );
    },
  );
}
