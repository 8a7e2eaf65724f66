import { Clock, Duration, Effect, Layer, Semaphore } from "effect";
import { TestClock } from "effect/testing";
import { patientClock } from "../../doubles/patient-clock.ts";

/**
 * The TestClock, except that a wait shorter than `passingBelowMs` advances it and is recorded in `waits`. So cool-downs
 * pass at once, and timeouts only when a test advances the clock. Concurrent waits pass together, as in real time.
 */
export const virtualTime = (passingBelowMs: number, waits: Array<number>): Layer.Layer<never> =>
  Layer.effect(
    Clock.Clock,
    TestClock.testClockWith((clock) =>
      Effect.sync(() => {
        const oneMove = Semaphore.makeUnsafe(1);
        const moveTo = (ms: number) =>
          Effect.suspend(() =>
            clock.currentTimeMillisUnsafe() < ms ? clock.setTime(ms) : Effect.void,
          ).pipe(oneMove.withPermits(1));
        return {
          ...clock,
          sleep: (duration: Duration.Duration) => {
            const ms = Duration.toMillis(duration);
            if (ms >= passingBelowMs) return clock.sleep(duration);
            waits.push(ms);
            return moveTo(clock.currentTimeMillisUnsafe() + ms);
          },
        };
      }),
    ),
  ).pipe(Layer.provideMerge(patientClock()));
