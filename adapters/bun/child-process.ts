import { Clock, Duration, Effect, type Scope } from "effect";

/** How a child process ended, and the end of what it wrote to standard error. */
export type ChildEnd = { readonly how: string; readonly said: string };

/** A script that runs in a process of its own. */
export type Child = {
  readonly pid: number;
  /** The first line of its standard output, undefined when it ends before that. */
  readonly firstLine: Effect.Effect<string | undefined>;
  readonly ended: Effect.Effect<ChildEnd>;
};

const STOP_TIMEOUT = "3 seconds";
/** Characters kept from the end of standard error, which is all that a panic leaves. */
const TAIL_CHARACTERS = 2000;

/** The first line of a stream, undefined when it ends before. All the rest is read and dropped, so that nobody waits. */
const firstLineOf = (stdout: ReadableStream<Uint8Array>): Promise<string | undefined> => {
  const line = Promise.withResolvers<string | undefined>();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text: string | null = "";
    for await (const chunk of stdout) {
      if (text === null) continue;
      text += decoder.decode(chunk, { stream: true });
      const end = text.indexOf("\n");
      if (end < 0) continue;
      line.resolve(text.slice(0, end));
      text = null;
    }
    line.resolve(undefined);
  };
  read().catch(() => line.resolve(undefined));
  return line.promise;
};

/**
 * The environment of every child. None needs the service's settings, or must see its secrets. `BUN_BE_BUN` is set where
 * Bun is in the service's own executable.
 */
const environment = (): Record<string, string> =>
  Object.fromEntries(
    ["PATH", "HOME", "TMPDIR", "BUN_INSTALL", "BUN_BE_BUN"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const spawn = (
  script: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
) => {
  const child = Bun.spawn([process.execPath, script, ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...environment(), ...env },
  });
  let said = "";
  const drained = child.stderr.pipeTo(
    new WritableStream({
      write: (chunk: Uint8Array) => {
        said = (said + new TextDecoder().decode(chunk)).slice(-TAIL_CHARACTERS);
      },
    }),
  );
  const ended = Promise.all([child.exited, drained.catch(() => undefined)]).then(
    ([code]): ChildEnd => ({
      how: child.signalCode === null ? `exit code ${code}` : String(child.signalCode),
      said: said.trim(),
    }),
  );
  return { child, firstLine: firstLineOf(child.stdout), ended };
};

/**
 * Runs a script until the scope closes, which asks it to end by SIGTERM and kills it after three seconds. A script that
 * ends when its standard input closes ends with this process, however that ends.
 */
export const runChild = (
  script: string,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(script, args, env)),
    ({ child, ended }) =>
      Effect.gen(function* () {
        child.kill("SIGTERM");
        const stopped = yield* Effect.timeoutOption(
          Effect.promise(() => ended),
          STOP_TIMEOUT,
        );
        if (stopped._tag === "Some") return;
        child.kill("SIGKILL");
        // The process holds its folder until it has ended. A service that starts before that is refused.
        yield* Effect.promise(() => ended);
      }),
  ).pipe(
    Effect.map(({ child, firstLine, ended }) => ({
      pid: child.pid,
      firstLine: Effect.promise(() => firstLine),
      ended: Effect.promise(() => ended),
    })),
  );

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;
/** After a process has run this long, the next restart waits the shortest time again. */
const STEADY_MS = 10_000;

/**
 * Runs `live`, which gives the reason why a process has ended, and then runs it anew, without end. Before each new run
 * `say` is told the reason and the pause, which doubles from 50 ms to 5 s. Where `live` gives null there is no pause.
 */
export const liveAgainAndAgain = Effect.fnUntraced(function* <E, R>(
  live: Effect.Effect<string | null, E, R>,
  say: (reason: string, pauseMs: number) => Effect.Effect<void>,
): Effect.fn.Return<never, E, R> {
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const startedMs = yield* Clock.currentTimeMillis;
    const reason = yield* live;
    if (reason === null) continue;
    if ((yield* Clock.currentTimeMillis) - startedMs >= STEADY_MS) pauseMs = FIRST_PAUSE_MS;
    yield* say(reason, pauseMs);
    yield* Effect.sleep(Duration.millis(pauseMs));
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
});
