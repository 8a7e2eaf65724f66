import { fileURLToPath } from "node:url";
import { Data, Effect, type Scope } from "effect";

/** The local ledger's process ended before it was ready. */
export class LocalLedgerDidNotStart extends Data.TaggedError("LocalLedgerDidNotStart")<{
  /** The end of its output, for the operator. */
  readonly reason: string;
}> {}

/** Where a local ledger listens. */
export type LedgerAddresses = { readonly rpcUrl: string; readonly webSocketUrl: string };

/** How a ledger process ended. */
type LedgerEnd = { readonly how: string; readonly said: string };

/** A running ledger process. */
export type LedgerProcess = LedgerAddresses & {
  readonly pid: number;
  readonly ended: Effect.Effect<LedgerEnd>;
};

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
/** Time to restore a ledger of a million accounts. */
const START_TIMEOUT = "60 seconds";
const STOP_TIMEOUT = "3 seconds";
/** Characters kept from the end of standard error, which is all that a panic leaves. */
const TAIL_CHARACTERS = 2000;

/** The environment of the ledger process. It needs no settings and must not see the service's secrets. */
const environment = (): Record<string, string> =>
  Object.fromEntries(
    ["PATH", "HOME", "TMPDIR", "BUN_INSTALL"].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const spawn = (args: ReadonlyArray<string>) => {
  const child = Bun.spawn([process.execPath, MAIN, "--supervised", ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    env: environment(),
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
    ([code]): LedgerEnd => ({
      how: child.signalCode === null ? `exit code ${code}` : String(child.signalCode),
      said: said.trim(),
    }),
  );
  return { child, ended };
};

const firstLine = async (stdout: ReadableStream<Uint8Array>): Promise<string | undefined> => {
  const reader = stdout.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return undefined;
    text += decoder.decode(value, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
};

/**
 * Runs a ledger in a process of its own until the scope closes. Succeeds when the ledger is ready. The child ends when
 * this process ends for any reason, because its standard input closes.
 */
export const startLedgerProcess = (
  args: ReadonlyArray<string>,
): Effect.Effect<LedgerProcess, LocalLedgerDidNotStart, Scope.Scope> =>
  Effect.gen(function* () {
    const { child, ended } = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(args)),
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
    );
    const line = yield* Effect.promise(() => firstLine(child.stdout)).pipe(
      Effect.timeoutOrElse({
        duration: START_TIMEOUT,
        orElse: () =>
          Effect.fail(new LocalLedgerDidNotStart({ reason: `not ready in ${START_TIMEOUT}` })),
      }),
    );
    if (line === undefined) {
      const { how, said } = yield* Effect.promise(() => ended);
      return yield* new LocalLedgerDidNotStart({ reason: said === "" ? how : said });
    }
    const ready = JSON.parse(line) as { readonly rpc_url: string; readonly ws_url: string };
    return {
      rpcUrl: ready.rpc_url,
      webSocketUrl: ready.ws_url,
      pid: child.pid,
      ended: Effect.promise(() => ended),
    };
  });
