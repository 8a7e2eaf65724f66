import { projectCommand } from "../../core/domain/project-command.ts";
import { EX_UNAVAILABLE, exitCodeOf } from "../../client/command-line/command-line.ts";
import { systemClock } from "../../client/service/requests.ts";
import { SettlementError } from "../../client/settlement-error.ts";

/** The exit code of a demo that failed: 69 when service or node does not answer, else 1. */
export const demoExitCode = (cause: SettlementError): number =>
  exitCodeOf(cause) === EX_UNAVAILABLE ? EX_UNAVAILABLE : 1;

/** What ends the demo as soon as something is not as it must be. */
export const failed = (detail: string, cure: string): SettlementError =>
  new SettlementError("demo_failed", detail, cure);

const REPORT = `Run the demo again; if it fails again, ${projectCommand("doctor")} looks for the reason.`;

/** Checks that both values are equal. @throws SettlementError `demo_failed` that names both. */
export const expectSame = <A>(what: string, actual: A, expected: A): void => {
  if (actual !== expected)
    throw failed(`${what} is ${String(actual)}, expected ${String(expected)}.`, REPORT);
};

/**
 * What `run` gives within a time; its signal is aborted afterwards. @throws SettlementError `demo_failed` when it gives
 * nothing in time.
 */
export const within = async <A>(
  what: string,
  seconds: number,
  run: (signal: AbortSignal) => Promise<A>,
): Promise<A> => {
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    return await run(signal);
  } catch (cause) {
    throw cause === signal.reason ? failed(`${what}: not within ${seconds} s.`, REPORT) : cause;
  }
};

const POLL_MS = 100;

/** Asks every 100 ms until the answer fits. @throws SettlementError `demo_failed` when none does within `seconds`. */
export const eventually = <A>(
  what: string,
  seconds: number,
  ask: (signal: AbortSignal) => Promise<A>,
  fits: (answer: A) => boolean,
): Promise<A> =>
  within(what, seconds, async (signal) => {
    for (;;) {
      const answer = await ask(signal);
      if (fits(answer)) return answer;
      await systemClock.pause(POLL_MS, signal);
    }
  });
