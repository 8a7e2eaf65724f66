import { Data, Deferred, Effect } from "effect";
import type { ListenFailed } from "../../adapters/http/server/serve-http.ts";
import { type ConfigInvalid, faultLines } from "../config/variable.ts";
import type { StartFailure } from "../serve.ts";
import type { WorkerRefused } from "../workers/start-workers.ts";
import type { IndexRefused } from "../stores/index-refused.ts";

/** The port for the metrics could not be taken. */
export class MetricsListenFailed extends Data.TaggedError("MetricsListenFailed")<{
  readonly cause: ListenFailed;
}> {}

/** Why the service ends: a signal, or an error that nobody caught. */
type Ending =
  | { readonly kind: "asked"; readonly by: string }
  | { readonly kind: "broken"; readonly cause: unknown };

/** Supervisors often kill ten seconds after SIGTERM. This leaves them a second. */
const STOP_WITHIN_MS = 9_000;

/** Ctrl-C reaches the process from the terminal, and some milliseconds later once more from npx. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Whether a signal at `nowMs` (milliseconds of any clock) asks for the end at once. It does when it comes more than a
 * second after the first; signals closer to it are that first one, repeated.
 */
export const asksAtOnce = (): ((nowMs: number) => boolean) => {
  let firstMs: number | null = null;
  return (nowMs) => {
    firstMs ??= nowMs;
    return nowMs - firstMs > SAME_SIGNAL_MS;
  };
};

/**
 * Waits for SIGTERM, SIGINT or an uncaught error. A signal more than a second after the first ends the process at once.
 */
export const awaitEnding: Effect.Effect<Ending> = Effect.suspend(() =>
  awaitEndingBy(["SIGTERM", "SIGINT"]),
);

const awaitEndingBy = Effect.fnUntraced(function* (signals: ReadonlyArray<NodeJS.Signals>) {
  const ending = yield* Deferred.make<Ending>();
  const atOnce = asksAtOnce();
  const end = (how: Ending): void => {
    Deferred.doneUnsafe(ending, Effect.succeed(how));
    if (how.kind === "asked" && atOnce(performance.now())) process.exit(1);
  };
  for (const signal of signals) process.on(signal, () => end({ kind: "asked", by: signal }));
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.on(event, (cause: unknown) => end({ kind: "broken", cause }));
  return yield* Deferred.await(ending);
});

/**
 * Waits for the end of a process that another one runs: until standard input closes, which it does however that one
 * ends, for SIGTERM or an uncaught error. Ctrl-C reaches both processes, and the other one then stops this one.
 */
export const awaitEndingOfParent: Effect.Effect<Ending> = Effect.gen(function* () {
  process.on("SIGINT", () => undefined);
  const closed = yield* Deferred.make<Ending>();
  const end = (): void => {
    Deferred.doneUnsafe(closed, Effect.succeed({ kind: "asked", by: "the end of its parent" }));
  };
  process.stdin.once("end", end);
  process.stdin.once("error", end);
  process.stdin.resume();
  return yield* Effect.raceFirst(Deferred.await(closed), awaitEndingBy(["SIGTERM"]));
});

/**
 * Whether the reader of standard output has gone, as with `bun run start | head -1`. No log line reaches anybody then.
 */
export const isUnread = (ending: Ending): boolean =>
  ending.kind === "broken" &&
  ending.cause instanceof Error &&
  "code" in ending.cause &&
  ending.cause.code === "EPIPE";

/** What a service says on standard error that ended for that. */
export const UNREAD =
  "The service has stopped: what read its output has ended. Send the output to a file, or keep its reader running";

/** Gives the process nine seconds to stop in order, then says so and ends it. */
export const limitStop: Effect.Effect<void> = Effect.sync(() => {
  setTimeout(() => {
    process.stderr.write(
      `It has not stopped in order within ${STOP_WITHIN_MS / 1000} s, and ends\n`,
    );
    process.exit(1);
  }, STOP_WITHIN_MS).unref();
});

const listenFailed = ({ hostname, port, reason }: ListenFailed, variable: string): string =>
  reason === "EADDRINUSE"
    ? `Port ${port} on ${hostname} is taken; stop what uses it or set another ${variable}`
    : `HOST ${hostname}, ${variable} ${port} cannot be listened on (${reason}); set an address of this machine and a port that this user may take`;

/** The operator's message when the service cannot start or continue: what is wrong, and the cure. */
export const startFailureText = (
  failure: ConfigInvalid | StartFailure | IndexRefused | WorkerRefused,
): string => {
  switch (failure._tag) {
    case "ConfigInvalid":
      return `The configuration is not usable:\n  ${faultLines(failure.faults).join("\n  ")}`;
    case "DataDirectoryUnusable":
      return `DATA_DIR ${failure.path}: ${failure.reason}`;
    case "LocalLedgerDidNotStart":
      return `The local ledger did not start: ${failure.reason.replace(/^local-ledger: /, "")}`;
    case "ListenFailed":
      return listenFailed(failure, "PORT");
    case "MetricsListenFailed":
      return listenFailed(failure.cause, "METRICS_PORT");
    case "StoreUnavailable":
    case "EvidenceKeyUnusable":
    case "LogKeyUnusable":
    case "LogRefused":
    case "LogWitnessesUnusable":
    case "WitnessUnusable":
    case "WrongLedger":
    case "MintDecimalsDiffer":
    case "StoreTooNew":
    case "StoreOfAnotherLedger":
    case "StoreCorrupt":
    case "SyncWorkerEnded":
    case "WorkerRefused":
      return failure.message;
  }
};
