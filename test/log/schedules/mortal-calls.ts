import { Effect } from "effect";

type Call = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>;

/** The calls of one process to its store, its key and its nodes. One of them may be its last. */
export class MortalCalls {
  /** Calls that have begun and not ended: virtual time stands still meanwhile. */
  inFlight = 0;
  isDead = false;
  /** How many calls were made. */
  made = 0;
  #left: number | null = null;
  #lastCounts = false;

  /** Kills the process at its `left`th call from now on; `counts` says whether that call takes effect. */
  dieAt(left: number, counts: boolean): void {
    this.#left = left;
    this.#lastCounts = counts;
  }

  /** The process lives on, if it still does. */
  spare(): void {
    this.#left = null;
  }

  /** A call; one of a dead process never returns. */
  readonly call: Call = (effect) =>
    Effect.suspend(() => {
      if (this.isDead) return Effect.never;
      this.made += 1;
      if (this.#left !== null) this.#left -= 1;
      if (this.#left !== 0) return this.counted(effect);
      const die = Effect.suspend(() => {
        this.isDead = true;
        return Effect.never;
      });
      return this.#lastCounts ? Effect.andThen(Effect.exit(this.counted(effect)), die) : die;
    });

  /** A service whose every call may be the process's last. Its members are effects, or functions that return one. */
  readonly wrapped = <Service extends object>(service: Service): Service =>
    Object.fromEntries(
      Object.entries(service).map(([name, member]: [string, unknown]) => [
        name,
        typeof member === "function"
          ? (...asked: ReadonlyArray<unknown>) =>
              this.call(Reflect.apply(member, service, asked) as Effect.Effect<unknown>)
          : this.call(member as Effect.Effect<unknown>),
      ]),
    ) as Service;

  /** Work for which virtual time waits. */
  counted<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        this.inFlight += 1;
      }),
      () => effect,
      () =>
        Effect.sync(() => {
          this.inFlight -= 1;
        }),
    );
  }
}
