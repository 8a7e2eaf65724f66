import { TestClock } from "effect/testing";

/**
 * The TestClock of a test. It stands still until every fiber that it woke has suspended again. Effect's own goes on
 * after a second of real time, so that what happens next depends on how busy the machine is.
 */
export const patientClock = () => TestClock.layer({ warningDelay: "1 hour" });
