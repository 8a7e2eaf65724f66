import { Duration, Effect, Exit, Fiber, Semaphore } from "effect";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { SyncEpoch, SyncLease, type SyncTerm } from "../../../ports/sync-lease.ts";
import { IndexSync } from "./index-sync.ts";

/** How often the lease is renewed, or asked for by those who do not have it. */
const BEAT = Duration.seconds(1);
/** How often a replica that waits for an answer looks for it when no news reaches it. */
const LOOK_AGAIN = Duration.millis(250);
/** How long a replica whose sync failed leaves the lease to others, whose node may do better. */
const STAND_BACK = Duration.seconds(2);

/**
 * The `IndexSync` of a process that shares its index with other replicas, over its `local` one: of all,
 * the one with the lease syncs.
 * A request made anywhere is written down in the store, and answered there by a sync that began
 * afterwards; when the replica that syncs dies, its successor finds what is still unanswered. A sync that
 * fails is told as well, and its replica then leaves the lease to the others for a while.
 */
export const makeReplicatedIndexSync = Effect.fnUntraced(function* (local: IndexSync["Service"]) {
  const scope = yield* Effect.scope;
  const lease = yield* SyncLease;
  const index = yield* EscrowIndex;
  yield* Effect.addFinalizer(() => Effect.ignore(lease.release));
  const oneBeatAtATime = yield* Semaphore.make(1);
  let term: SyncTerm | null = null;
  let running = false;
  let standingBack = false;

  /** The term this replica now has. One that cannot read the index, or whose sync has just failed, wants none. */
  const hold = Effect.gen(function* () {
    if (standingBack) return null;
    if (term === null) yield* index.summary;
    return yield* lease.hold;
  }).pipe(Effect.orElseSucceed(() => null));

  const standBack = Effect.gen(function* () {
    standingBack = true;
    term = null;
    yield* Effect.ignore(lease.release);
    yield* Effect.sleep(STAND_BACK);
    standingBack = false;
  });

  const syncIn = (held: SyncTerm) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.provideService(local.request, SyncEpoch, held.epoch));
      const failure = Exit.findErrorOption(exit);
      const outcome = Exit.isSuccess(exit)
        ? { report: exit.value }
        : failure._tag === "Some"
          ? { failure: failure.value }
          : null;
      // Without an answer, the next term's replica syncs again.
      if (outcome !== null) yield* Effect.ignore(lease.answer(held, outcome));
      if (!Exit.isSuccess(exit)) yield* Effect.forkIn(standBack, scope);
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          running = false;
        }),
      ),
    );

  const beat: Effect.Effect<void> = oneBeatAtATime.withPermit(
    Effect.gen(function* () {
      term = yield* hold;
      if (term === null || running || term.asked <= term.answered) return;
      running = true;
      yield* Effect.forkIn(
        Effect.andThen(
          syncIn(term),
          Effect.suspend(() => beat),
        ),
        scope,
      );
    }),
  );
  const newsOrAfter = (wait: Duration.Duration) => Effect.race(lease.news, Effect.sleep(wait));
  // News counts from before the beat, so that none falls between the beat and the wait.
  const beatAndWait = Effect.gen(function* () {
    const heard = yield* Effect.forkChild(newsOrAfter(BEAT), { startImmediately: true });
    yield* beat;
    yield* Fiber.join(heard);
  });
  yield* Effect.forkIn(Effect.forever(beatAndWait), scope);

  const request = Effect.gen(function* () {
    const number = yield* lease.ask;
    yield* beat;
    for (;;) {
      const outcome = yield* lease.answerTo(number);
      if (outcome !== null && "report" in outcome) return outcome.report;
      if (outcome !== null) return yield* outcome.failure;
      yield* newsOrAfter(LOOK_AGAIN);
    }
  });
  return IndexSync.of({
    request,
    background: Effect.suspend(() => (term === null ? Effect.succeed(null) : request)),
    activity: local.activity,
  });
});
