import { EX_UNAVAILABLE } from "../command-line/command-line.ts";

/** The demo found an unexpected result. The message explains it to the person who watches. */
export class DemoFailed extends Error {
  override readonly name: string = "DemoFailed";
  /** The exit code of the command, [1, 255]. */
  readonly exitCode: number = 1;
}

/** The service gives the demo no answer. */
export class ServiceUnreachable extends DemoFailed {
  override readonly name = "ServiceUnreachable";
  override readonly exitCode = EX_UNAVAILABLE;
}

/** The value. @throws DemoFailed with `what` when it is missing. */
export const expectValue = <A>(value: A | null | undefined, what: string): A => {
  if (value === null || value === undefined) throw new DemoFailed(what);
  return value;
};

/** Checks that both values are equal. @throws DemoFailed that names both. */
export const expectSame = <A>(what: string, actual: A, expected: A): void => {
  if (actual !== expected)
    throw new DemoFailed(`${what} is ${String(actual)}, expected ${String(expected)}`);
};

const POLL_MS = 100;

/** Asks every 100 ms until there is an answer that fits. @throws DemoFailed when none has come after `seconds`. */
export const eventually = async <A>(
  what: string,
  seconds: number,
  ask: () => Promise<A | null>,
  fits: (answer: A) => boolean,
): Promise<A> => {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer !== null && fits(answer)) return answer;
    if (performance.now() > deadline) throw new DemoFailed(`${what}: not within ${seconds} s`);
    await Bun.sleep(POLL_MS);
  }
};
