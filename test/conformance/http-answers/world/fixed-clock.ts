import { Clock, Duration, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { CREATED_AT } from "../../../adapters/http/support/parties.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** The ledger's clock: 2026-03-01T12:01:00Z. */
export const LEDGER_TIME = CREATED_AT + 60n;

/** The service's clock when a scene begins, milliseconds: LEDGER_TIME and a quarter of a second. */
export const START_MS = Number(LEDGER_TIME) * 1000 + 250;

/** A TestClock that starts at START_MS. It adds the length of every sleep, in milliseconds, to `waits`. */
export const fixedClock = (waits: Array<number>): Layer.Layer<never> =>
  Layer.effect(
    Clock.Clock,
    TestClock.testClockWith((clock) =>
      Effect.as(clock.setTime(START_MS), {
        ...clock,
        sleep: (duration: Duration.Duration) => {
          waits.push(Duration.toMillis(duration));
          return clock.sleep(duration);
        },
      }),
    ),
  ).pipe(Layer.provideMerge(patientClock()));
