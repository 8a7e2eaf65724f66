import { spyOn } from "bun:test";
import { Cause, Effect, Exit, Scope } from "effect";
import { readSettings } from "../../../app/config/settings.ts";
import { diagnose } from "../../../app/doctor/diagnose.ts";
import { startFailureText } from "../../../app/lifecycle/shutdown.ts";
import { startService } from "../../../app/serve.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { until } from "./running-service.ts";

type Environment = Readonly<Record<string, string>>;

/** What the operator of a service hears that is broken. */
export type BrokenStart = {
  /** What it wrote: log lines, and the text on standard error with which `app/main.ts` ends it. */
  readonly lines: ReadonlyArray<string>;
  /** Whether it ended, with 1. */
  readonly hasEnded: boolean;
  /** The body of `/ready`; null where nothing listens. */
  readonly ready: Readonly<Record<string, unknown>> | null;
};

/**
 * Starts a service in this process, as `app/main.ts` does, until it ends, or has written a line that fits while
 * `/ready` tells the same. After 20 seconds it returns what there is.
 */
export const brokenStart = async (
  env: Environment,
  fits: (line: string) => boolean,
  isTold: (ready: BrokenStart["ready"]) => boolean,
): Promise<BrokenStart> => {
  const lines: Array<string> = [];
  const output = spyOn(process.stdout, "write").mockImplementation((text) => {
    lines.push(String(text).trimEnd());
    return true;
  });
  const scope = await Effect.runPromise(Scope.make());
  const state: { url: string | null; hasEnded: boolean } = { url: null, hasEnded: false };
  const serving = Effect.gen(function* () {
    const service = yield* startService(yield* readSettings(env));
    state.url = service.url;
    return yield* service.refused;
  });
  const stop = new AbortController();
  const untilEnded = async (): Promise<void> => {
    const exit = await Effect.runPromiseExit(Scope.provide(serving, scope), {
      signal: stop.signal,
    });
    if (Exit.isSuccess(exit) || Cause.hasInterrupts(exit.cause)) return;
    const failure = Cause.findErrorOption(exit.cause);
    lines.push(
      failure._tag === "Some" ? startFailureText(failure.value) : Cause.pretty(exit.cause),
    );
    state.hasEnded = true;
  };
  const ended = untilEnded();
  const readyOf = async (): Promise<BrokenStart["ready"]> => {
    if (state.url === null) return null;
    return (await (await fetch(`${state.url}/ready`)).json()) as NonNullable<BrokenStart["ready"]>;
  };
  try {
    const ready = await until(
      "the service ends, or says what is wrong and shows it",
      readyOf,
      (shown) => state.hasEnded || (lines.some(fits) && isTold(shown)),
      20,
    ).catch(readyOf);
    return { lines, hasEnded: state.hasEnded, ready };
  } finally {
    stop.abort();
    await ended;
    await Effect.runPromise(Scope.close(scope, Exit.void));
    output.mockRestore();
  }
};

/** The problems that `bun run doctor` finds. */
export const problemsFound = async (env: Environment): Promise<ReadonlyArray<string>> => {
  const findings = await Effect.runPromise(diagnose(env, packageJson.engines.bun));
  return findings.filter(({ ok }) => !ok).map(({ text }) => text);
};
