import { Deferred, Effect } from "effect";

/** Why the service ends: a signal, or an error that nobody caught. */
export type Ending =
  | { readonly kind: "asked"; readonly by: string }
  | { readonly kind: "broken"; readonly cause: unknown };

/** Supervisors often kill ten seconds after SIGTERM. This leaves them a second. */
const STOP_WITHIN_MS = 9_000;

/** Waits for SIGTERM, SIGINT or an uncaught error. A second signal ends the process at once. */
export const awaitEnding: Effect.Effect<Ending> = Effect.gen(function* () {
  const ending = yield* Deferred.make<Ending>();
  const end = (how: Ending): void => {
    const first = Deferred.doneUnsafe(ending, Effect.succeed(how));
    if (!first && how.kind === "asked") process.exit(1);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => end({ kind: "asked", by: signal }));
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.on(event, (cause: unknown) => end({ kind: "broken", cause }));
  return yield* Deferred.await(ending);
});

/** Gives the process nine seconds to stop in order, then ends it. */
export const limitStop: Effect.Effect<void> = Effect.sync(() => {
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
});
