import { Duration, Effect, Exit, Fiber, Metric, Semaphore } from "effect";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { SyncEpoch, SyncLease, type SyncTerm } from "../../../../ports/index/sync-lease.ts";
import { IndexSync } from "./index-sync.ts";

/** How often a replica renews the lease, or asks for it. */
const HEARTBEAT = Duration.seconds(1);
/** How often a replica that waits for an answer reads the store when no news arrives. */
const LOOK_AGAIN = Duration.millis(250);
/** How long a replica whose sync failed leaves the lease to the others: their node may work. */
const BACK_OFF = Duration.seconds(2);

/** Whether this replica syncs the shared index. */
export const leaseHeld = Metric.gauge("index_lease_held", {
  description:
    "1 while this replica holds the lease on the shared index, 0 while another does; absent without a shared database.",
});

/**
 * The `IndexSync` of a process that shares its index with other replicas. Only the replica that holds the lease runs
 * its `local` sync. Each replica writes its requests into the store. A sync that begins later answers them there, so
 * that a new holder finds the requests that a dead one left. A failed sync is an answer too; its replica then backs
 * off and leaves the lease to the others. A store that does not say who holds the lease fails every sync. `standsBy` is
 * told at each heartbeat that another replica holds it, and once when this one takes over.
 */
export const makeReplicatedIndexSync = Effect.fnUntraced(function* (
  local: IndexSync["Service"],
  standsBy: (isBeside: boolean) => Effect.Effect<void> = () => Effect.void,
) {
  const scope = yield* Effect.scope;
  const lease = yield* SyncLease;
  const index = yield* IndexReader;
  yield* Effect.addFinalizer(() => Effect.ignore(lease.release));
  const oneHeartbeatAtATime = yield* Semaphore.make(1);
  let term: SyncTerm | null = null;
  let running = false;
  let backingOff = false;
  /** Whether another replica held the lease when the store said last who does. */
  let isBeside = false;
  /** Why the store did not say who holds the lease; null when it did. */
  let refusal: StoreUnavailable | null = null;
  /** The numbers of the requests that this replica made by itself, for nobody. */
  const unawaited = new Set<bigint>();

  /** This replica's term; null when another holds the lease, or when this one backs off or cannot read the index. */
  const hold = Effect.gen(function* () {
    if (backingOff) return null;
    if (term === null) yield* index.summary;
    const held = yield* lease.hold;
    refusal = null;
    const wasBeside = isBeside;
    isBeside = held === null;
    if (isBeside || wasBeside) yield* standsBy(isBeside);
    return held;
  }).pipe(
    Effect.catch((failure) =>
      Effect.sync(() => {
        refusal = failure;
        return null;
      }),
    ),
  );

  const backOff = Effect.gen(function* () {
    backingOff = true;
    term = null;
    yield* Effect.ignore(lease.release);
    yield* Effect.sleep(BACK_OFF);
    backingOff = false;
  });

  /** Whether nobody waits for any of the requests that a sync would answer. */
  const isUnawaited = ({ asked, answered }: SyncTerm): boolean => {
    for (let number = answered + 1n; number <= asked; number++)
      if (!unawaited.has(number)) return false;
    return true;
  };
  const unawaitedSync = Effect.flatMap(local.background, (report) =>
    report === null ? local.request : Effect.succeed(report),
  );

  const syncIn = (held: SyncTerm) =>
    Effect.gen(function* () {
      const sync =
        held.snapshotAsked > held.answered
          ? local.snapshot
          : isUnawaited(held)
            ? unawaitedSync
            : local.request;
      const exit = yield* Effect.exit(Effect.provideService(sync, SyncEpoch, held.epoch));
      const failure = Exit.findErrorOption(exit);
      const outcome = Exit.isSuccess(exit)
        ? { report: exit.value }
        : failure._tag === "Some"
          ? { failure: failure.value }
          : null;
      // When the answer is lost, the next holder syncs again.
      if (outcome !== null) yield* Effect.ignore(lease.answer(held, outcome));
      for (const number of unawaited) if (number <= held.asked) unawaited.delete(number);
      // At once: the heartbeat behind this sync must find it.
      if (!Exit.isSuccess(exit)) yield* Effect.forkIn(backOff, scope, { startImmediately: true });
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          running = false;
        }),
      ),
    );

  const heartbeat: Effect.Effect<void> = oneHeartbeatAtATime.withPermit(
    Effect.gen(function* () {
      term = yield* hold;
      yield* Metric.update(leaseHeld, term === null ? 0 : 1);
      if (term === null || running || term.asked <= term.answered) return;
      running = true;
      yield* Effect.forkIn(
        Effect.andThen(
          syncIn(term),
          Effect.suspend(() => heartbeat),
        ),
        scope,
      );
    }),
  );
  const newsOrAfter = (wait: Duration.Duration) => Effect.race(lease.news, Effect.sleep(wait));
  // Listens before the heartbeat, so that news during the heartbeat ends the wait.
  const heartbeatAndWait = Effect.gen(function* () {
    const heard = yield* Effect.forkChild(newsOrAfter(HEARTBEAT), { startImmediately: true });
    yield* heartbeat;
    yield* Fiber.join(heard);
  });
  yield* Effect.forkIn(Effect.forever(heartbeatAndWait), scope);

  const ask = Effect.fnUntraced(function* (kind: "sync" | "snapshot", isAwaited = true) {
    const number = yield* lease.ask(kind);
    if (!isAwaited) unawaited.add(number);
    yield* heartbeat;
    for (;;) {
      const outcome = yield* lease.answerTo(number);
      if (outcome !== null && "report" in outcome) return outcome.report;
      if (outcome !== null) return yield* outcome.failure;
      yield* newsOrAfter(LOOK_AGAIN);
    }
  });
  /** What failed is over once another replica has completed a sync: the outcome of the last one stands in the store. */
  const activity = Effect.gen(function* () {
    const { storeFault, ...own } = yield* local.activity;
    if (refusal !== null) {
      const { _tag: lastError, fault } = refusal;
      return { ...own, lastError, ...(fault === undefined ? {} : { storeFault: fault }) };
    }
    if (isBeside && own.lastError !== null) {
      const outcome = yield* Effect.orElseSucceed(lease.answerTo(0n), () => null);
      if (outcome !== null && "report" in outcome) return { ...own, lastError: null };
    }
    return storeFault === undefined ? own : { ...own, storeFault };
  });
  return IndexSync.of({
    request: ask("sync"),
    snapshot: ask("snapshot"),
    background: Effect.gen(function* () {
      // It may answer again since the last heartbeat.
      if (refusal !== null) yield* heartbeat;
      if (refusal !== null) return yield* refusal;
      return term === null ? null : yield* ask("sync", false);
    }),
    activity,
    listening: local.listening,
    told: local.told,
  });
});
