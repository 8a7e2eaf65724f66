import { expect } from "bun:test";
import { Clock, Effect, type Fiber } from "effect";
import { TestClock } from "effect/testing";
import { type ProcessParts, type ScheduleProcess, startProcess } from "./schedule-process.ts";

/** Of virtual time. A sync that takes longer hangs. */
const LONGEST_SYNC_MS = 3_600_000;

/** Lets the event loop turn, where files and connections answer. */
const turn = Effect.promise(() => new Promise<void>((resolve) => void setImmediate(resolve)));

/** The processes of a schedule that live, by their replica, and the virtual time that passes for them. */
export class LivingProcesses {
  readonly #living = new Map<number, ScheduleProcess>();
  readonly #partsOf: (replica: number) => ProcessParts;

  constructor(partsOf: (replica: number) => ProcessParts) {
    this.#partsOf = partsOf;
  }

  /** Those that live. */
  get all(): ReadonlyArray<ScheduleProcess> {
    return [...this.#living.values()];
  }

  /** Lets virtual time pass, never while a process waits for its store. */
  pass(ms: number) {
    return Effect.gen({ self: this }, function* () {
      const until = (yield* Clock.currentTimeMillis) + ms;
      for (;;) {
        const now = yield* Clock.currentTimeMillis;
        if (now >= until) return;
        if (this.all.every(({ calls }) => calls.inFlight === 0))
          yield* TestClock.adjust(Math.min(250, until - now));
        yield* turn;
      }
    });
  }

  /** The replica's process, started if it does not live. */
  start(replica: number) {
    return Effect.gen({ self: this }, function* () {
      const known = this.#living.get(replica);
      if (known !== undefined) return known;
      const process = yield* startProcess(this.#partsOf(replica));
      this.#living.set(replica, process);
      return process;
    });
  }

  /** Ends a process. One that still lives must not have been refused its log. */
  end(replica: number) {
    return Effect.gen({ self: this }, function* () {
      const process = this.#living.get(replica);
      this.#living.delete(replica);
      if (process === undefined) return;
      expect(process.calls.isDead ? null : process.refused()).toBeNull();
      yield* process.end;
    });
  }

  /** Ends all of them. */
  readonly endAll = Effect.suspend(() =>
    Effect.forEach([...this.#living.keys()], (replica) => this.end(replica), { discard: true }),
  );

  /** Waits for a sync; null when its process died. */
  outcome<A, E>({ calls }: ScheduleProcess, running: Fiber.Fiber<A, E>) {
    return Effect.gen({ self: this }, function* () {
      const until = (yield* Clock.currentTimeMillis) + LONGEST_SYNC_MS;
      for (;;) {
        const exit = running.pollUnsafe();
        if (exit !== undefined) return exit;
        if (calls.isDead) return null;
        if ((yield* Clock.currentTimeMillis) > until) throw new Error("a sync hangs");
        yield* this.pass(50);
      }
    });
  }

  /** A sync by each of them, one after the other. */
  readonly syncAll = Effect.suspend(() =>
    Effect.forEach(
      this.all,
      (process) => Effect.flatMap(process.sync, (running) => this.outcome(process, running)),
      { discard: true },
    ),
  );
}
