import { Deferred, Duration, Effect, FiberSet, Queue, Ref, Semaphore } from "effect";
import type { PolicyWitness } from "../../../log/policy/log-policy.ts";
import { judgeQuorum } from "../../../log/policy/quorum.ts";
import { SyncEpoch } from "../../../../ports/index/sync-lease.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { monotonicMs } from "../../single-flight.ts";
import type { AskedPolicy } from "../witness-policies.ts";
import { askWitness, type WitnessRecords } from "./ask-witness.ts";
import { type Offered, OfferedRound, publish, publishedIn, sizeOf } from "./offered-round.ts";
import { isSameHead, type LogHindrance, type SignedHead } from "../log-standing.ts";
import { printSignedCheckpoint, type SignedCheckpoint } from "../signing/open-log.ts";
import type { SigningLog } from "../signing/signing-log.ts";

/** How often a checkpoint that has not changed is cosigned again, so that it can be known to be fresh. */
export const OFFER_UNCHANGED_EVERY = Duration.minutes(10);
/** Between two attempts while something hinders, and two looks whether this process may still write. */
export const TRY_AGAIN = Duration.seconds(2);

const NOTHING_PUBLISHED = { size: 0, atMs: -Infinity };
const UNCHANGED_MS = Duration.toMillis(OFFER_UNCHANGED_EVERY);
const TRY_AGAIN_MS = Duration.toMillis(TRY_AGAIN);
/**
 * Between two offers to a witness that did not cosign, milliseconds; doubled from offer to offer once the quorum is
 * met.
 */
const OFFER_AGAIN_MS = Duration.toMillis(Duration.seconds(2));
const LONGEST_PAUSE_MS = Duration.toMillis(Duration.minutes(1));
/**
 * Until the second offer to a witness that is not ready, milliseconds; doubled up to the pause above. Its node, or the
 * log, is mostly a few blocks behind and has caught up by then.
 */
const NOT_READY_MS = 500;

/** Whether the term of a mark or an offer may still write; a store that does not answer says nothing against it. */
export const isWriter = (epoch: bigint) =>
  LogStore.use((store) => store.isWriter).pipe(
    Effect.provideService(SyncEpoch, epoch),
    Effect.orElseSucceed(() => true),
  );

/** Whether a policy names witnesses. */
const isWitnessed = (policy: AskedPolicy | null): policy is AskedPolicy =>
  policy !== null && policy.witnesses.length > 0;

/**
 * The signed checkpoints on their way to be published. One at a time is offered to the witnesses, then the newest one
 * that was signed meanwhile. It is published with its quorum, and again with each cosignature that comes later. Signing
 * does not wait for witnesses, because one whose node is ahead needs the newer entries.
 */
export const makeCheckpointOffers = Effect.fnUntraced(function* (
  policyRef: Ref.Ref<AskedPolicy | null>,
  witnesses: WitnessRecords,
) {
  const hindrance = yield* Ref.make<LogHindrance | null>(null);
  /** Rings when there is something to look at: a checkpoint, an answer or another policy. */
  const bell = yield* Queue.sliding<null>(1);
  const ring = Queue.offer(bell, null);
  /** One request at a time is on its way to a witness, by its address. */
  const lines = new Map<string, Semaphore.Semaphore>();
  let waiting: Offered | null = null;
  let newest: Offered | null = null;
  let round: OfferedRound | null = null;
  /** The size that this process published last, as its quorum cosigned it, and when in monotonic milliseconds. */
  let own = NOTHING_PUBLISHED;
  /** When the newest one is offered again. */
  let againAtMs = Infinity;

  /** Whether a head is to be published: a larger one, or one that lacks a line of a key here, or has old cosignatures. */
  const isDue = Effect.fnUntraced(function* (
    { keys }: SigningLog,
    head: SignedHead,
    published: string | null,
  ) {
    const size = sizeOf(published);
    if (published === null || head.size !== size) return head.size > size;
    if (!keys.haveSigned(published)) return true;
    if (head.isLast !== publishedIn(published)?.checkpoint.isLast) return true;
    // How old another process's cosignatures are is not known here.
    return own.size !== size || (yield* monotonicMs) - own.atMs >= UNCHANGED_MS;
  });

  /**
   * Whether witnesses state to have cosigned more than a tree of a size, and the others make no quorum. Then a larger
   * tree was signed that this process does not know, and its quorum stands for it.
   */
  const areAhead = Effect.fnUntraced(function* (size: number) {
    const policy = yield* Ref.get(policyRef);
    if (policy === null) return false;
    const records = yield* Ref.get(witnesses);
    const names = policy.witnesses.map(({ name }) => name);
    const others = names.filter((name) => (records.get(name)?.aheadTo ?? 0) <= size);
    return policy.quorum === null
      ? names.length > 0 && others.length === 0
      : !judgeQuorum(policy, others).isMet;
  });

  /** Asks a witness for as long as its round has its turn, and it has not cosigned. */
  const courier = Effect.fnUntraced(function* (
    log: SigningLog,
    ofRound: OfferedRound,
    witness: PolicyWitness,
  ) {
    const url = witness.url ?? "";
    const line = lines.get(url) ?? (yield* Semaphore.make(1));
    lines.set(url, line);
    const { checkpoint } = ofRound.offered;
    const ask = Effect.suspend(() =>
      ofRound.isOver ? Effect.succeed(null) : askWitness(log.tree, checkpoint, witness, witnesses),
    );
    let pauseMs = OFFER_AGAIN_MS;
    let notReadyMs = NOT_READY_MS;
    while (!ofRound.isOver) {
      const answer = yield* line.withPermit(ask);
      const isCosigned = answer !== null && answer !== "not_ready";
      if (isCosigned) ofRound.gathered.set(witness.name, answer);
      yield* ring;
      if (isCosigned) return;
      const restMs = answer === "not_ready" ? Math.min(notReadyMs, pauseMs) : pauseMs;
      notReadyMs *= 2;
      yield* Effect.timeoutOption(Deferred.await(ofRound.over), Duration.millis(restMs));
      if (ofRound.publishedCount !== null) pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  });

  const endRound = Effect.suspend(() => {
    const ended = round;
    round = null;
    if (ended === null) return Effect.void;
    ended.isOver = true;
    return Deferred.succeed(ended.over, undefined);
  });

  /** Gives a checkpoint that waits its turn, where it is still due. */
  const begin = Effect.fnUntraced(function* (
    log: SigningLog,
    couriers: FiberSet.FiberSet,
    offered: Offered,
  ) {
    const policy = yield* Ref.get(policyRef);
    const { value } = yield* log.kept.inStore;
    const nowMs = yield* monotonicMs;
    againAtMs = nowMs + UNCHANGED_MS;
    if (waiting === offered) waiting = null;
    if (!isWitnessed(policy) || value === null) return;
    if (value.ended !== null && !offered.checkpoint.head.isLast) return;
    if (!(yield* isDue(log, offered.checkpoint.head, value.published))) return;
    yield* endRound;
    const begun = new OfferedRound(offered, policy, nowMs);
    round = begun;
    yield* Effect.forEach(
      begun.asked,
      (witness) => FiberSet.run(couriers, courier(log, begun, witness)),
      { discard: true },
    );
  });

  /** Publishes what a round has, once it may be, and says what hinders it. */
  const advance = Effect.fnUntraced(function* (log: SigningLog, ofRound: OfferedRound) {
    const nowMs = yield* monotonicMs;
    if (ofRound.isReady(nowMs, yield* Ref.get(witnesses))) {
      const count = ofRound.gathered.size;
      const { checkpoint } = ofRound.offered;
      const isPublished = yield* publish(log, checkpoint, (...told) => ofRound.note(...told));
      if (isPublished && ofRound.publishedCount === null) {
        own = { size: checkpoint.head.size, atMs: nowMs };
        againAtMs = nowMs + UNCHANGED_MS;
      }
      ofRound.publishedCount = count;
      yield* Ref.set(hindrance, null);
    }
    if (ofRound.lacksQuorum(nowMs)) yield* Ref.set(hindrance, "quorum_missing");
    if (ofRound.isComplete && ofRound.publishedCount === ofRound.gathered.size) yield* endRound;
  });

  /** Looks once at what came and what waits. */
  const look = Effect.fnUntraced(function* (log: SigningLog, couriers: FiberSet.FiberSet) {
    const nowMs = yield* monotonicMs;
    const isAgain = nowMs >= againAtMs;
    if (isAgain) waiting ??= newest;
    // The publisher offers a head in each of its rounds until it is published.
    else if (waiting !== null && round !== null)
      if (isSameHead(waiting.checkpoint.head, round.offered.checkpoint.head)) waiting = null;
    if (round !== null)
      yield* Effect.provideService(advance(log, round), SyncEpoch, round.offered.epoch);
    if (waiting === null) return;
    if (round !== null && !isAgain && !round.mayEnd(nowMs, yield* Ref.get(witnesses)))
      if (!(yield* areAhead(round.offered.checkpoint.head.size))) return;
    yield* Effect.provideService(begin(log, couriers, waiting), SyncEpoch, waiting.epoch);
  });

  const attempt = (log: SigningLog, couriers: FiberSet.FiberSet) =>
    look(log, couriers).pipe(
      Effect.catch((failure) => {
        const tried = "a checkpoint could not be published, and is tried again";
        return Effect.andThen(
          Effect.logWarning(tried, { failure: failure._tag, cause: failure.message }),
          Ref.set(hindrance, "store_or_ledger_unavailable"),
        );
      }),
    );

  /** Drops everything of terms that are over. */
  const dropFormer = Effect.fnUntraced(function* (couriers: FiberSet.FiberSet) {
    const terms = new Set([round?.offered, waiting, newest].map((each) => each?.epoch));
    for (const epoch of terms) {
      if (epoch === undefined || (yield* isWriter(epoch))) continue;
      if (round?.offered.epoch === epoch) {
        yield* endRound;
        yield* FiberSet.clear(couriers);
      }
      if (waiting?.epoch === epoch) waiting = null;
      if (newest?.epoch === epoch) {
        newest = null;
        againAtMs = Infinity;
      }
      yield* Ref.set(hindrance, null);
    }
  });

  /** How long nothing changes unless the bell rings, milliseconds. */
  const restMs = (nowMs: number): number => {
    if (round === null && waiting === null)
      return Math.min(UNCHANGED_MS, Math.max(1, againAtMs - nowMs));
    const changesMs = (round?.nextMs(nowMs) ?? Infinity) - nowMs;
    return Math.max(1, Math.min(TRY_AGAIN_MS, changesMs));
  };

  return {
    /** What keeps the offered checkpoint from being published, null for nothing. */
    hindrance: Effect.gen(function* () {
      const isAhead = newest !== null && (yield* areAhead(newest.checkpoint.head.size));
      return isAhead ? ("witnesses_ahead" as const) : yield* Ref.get(hindrance);
    }),
    isDue,
    /**
     * Whether a head's size is published, and its witnesses' quorum has cosigned that for this process. What another
     * one published may be of a copy, and the witnesses further.
     */
    isPublished: Effect.fnUntraced(function* ({ size }: SignedHead, published: string | null) {
      const isCosigned = own.size === size || !isWitnessed(yield* Ref.get(policyRef));
      return isCosigned && sizeOf(published) === size;
    }),
    areAhead,
    /** Publishes a signed checkpoint at once where no witness is asked; otherwise it is offered next. */
    offer: Effect.fnUntraced(function* (log: SigningLog, checkpoint: SignedCheckpoint) {
      const offered = { checkpoint, epoch: yield* SyncEpoch };
      newest = offered;
      if (isWitnessed(yield* Ref.get(policyRef))) {
        waiting = offered;
        yield* ring;
        return;
      }
      if (yield* publish(log, checkpoint, (whole) => printSignedCheckpoint(whole, [])))
        own = { size: checkpoint.head.size, atMs: yield* monotonicMs };
    }),
    /** Takes another policy: the newest checkpoint is offered to its witnesses. */
    changed: Effect.suspend(() => {
      own = NOTHING_PUBLISHED;
      againAtMs = -Infinity;
      return Effect.andThen(endRound, ring);
    }),
    /** Drops what is offered. The next checkpoint is due, also one of the same size. */
    renewed: Effect.suspend(() => {
      own = NOTHING_PUBLISHED;
      [waiting, newest] = [null, null];
      return endRound;
    }),
    /** Offers a log's checkpoints for as long as it runs. */
    run: (log: SigningLog) =>
      Effect.scoped(
        Effect.gen(function* () {
          const couriers = yield* FiberSet.make();
          let checkedMs = -Infinity;
          for (;;) {
            const nowMs = yield* monotonicMs;
            if (nowMs - checkedMs >= TRY_AGAIN_MS) {
              checkedMs = nowMs;
              yield* dropFormer(couriers);
            }
            yield* attempt(log, couriers);
            const rest = Duration.millis(restMs(yield* monotonicMs));
            yield* Effect.timeoutOption(Queue.take(bell), rest);
          }
        }),
      ),
  };
});
