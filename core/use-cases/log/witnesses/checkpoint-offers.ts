import { Duration, Effect, Option, Queue, Ref, Schedule } from "effect";
import { parseCheckpoint } from "../../../log/checkpoint/checkpoint.ts";
import type { LogPolicy } from "../../../log/policy/log-policy.ts";
import { SyncEpoch } from "../../../../ports/index/sync-lease.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { monotonicMs } from "../../single-flight.ts";
import { gatherCosignatures, type WitnessRecords } from "./gather-cosignatures.ts";
import type { LogHindrance, SignedHead } from "../log-standing.ts";
import { printSignedCheckpoint, type SignedCheckpoint } from "../signing/open-log.ts";
import type { SigningLog } from "../signing/signing-log.ts";

/** How often a checkpoint that has not changed is cosigned again, so that it can be known to be fresh. */
export const OFFER_UNCHANGED_EVERY = Duration.minutes(10);
/** Between two attempts while something hinders. */
export const TRY_AGAIN = Duration.seconds(2);

/** A signed checkpoint, and the term of the lease under which it was signed. */
type Offered = { readonly checkpoint: SignedCheckpoint; readonly epoch: bigint };

/** Whether the term of a mark or an offer may still write; a store that does not answer says nothing against it. */
export const isWriter = (epoch: bigint) =>
  LogStore.use((store) => store.isWriter).pipe(
    Effect.provideService(SyncEpoch, epoch),
    Effect.orElseSucceed(() => true),
  );

/** Completes when a term may write no more. */
const untilOver = (epoch: bigint) =>
  Effect.repeat(isWriter(epoch), {
    schedule: Schedule.spaced(TRY_AGAIN),
    until: (still) => !still,
  });

/** The size of a published checkpoint, 0 for none. */
const sizeOf = (published: string | null): number => {
  const parsed = published === null ? null : parseCheckpoint(published);
  return parsed !== null && "value" in parsed ? parsed.value.checkpoint.size : 0;
};

/**
 * The signed checkpoints on their way to be published. One at a time is offered to the witnesses, then the newest one that
 * was signed meanwhile. Signing does not wait for them, because a witness whose node is ahead needs the newer entries.
 */
export const makeCheckpointOffers = Effect.fnUntraced(function* (
  policy: LogPolicy | null,
  witnesses: WitnessRecords,
) {
  const hindrance = yield* Ref.make<LogHindrance | null>(null);
  const newest = yield* Queue.sliding<Offered>(1);
  let publishedAtMs = -Infinity;

  /** Whether a head is to be published: a larger one, or the same one whose cosignatures have become old. */
  const isDue = Effect.fnUntraced(function* (head: SignedHead, published: string | null) {
    const size = sizeOf(published);
    if (head.size !== size) return head.size > size;
    return (yield* monotonicMs) - publishedAtMs >= Duration.toMillis(OFFER_UNCHANGED_EVERY);
  });

  /** Publishes a note of a size, unless the log has ended or has published a larger one. */
  const publish = Effect.fnUntraced(function* (log: SigningLog, note: string, size: number) {
    const isPublished = yield* log.publish(
      note,
      ({ published, ended }) => ended === null && sizeOf(published) <= size,
    );
    if (isPublished) publishedAtMs = yield* monotonicMs;
  });

  /** Gathers the cosignatures of a checkpoint and publishes it. Says what hinders it, null for nothing. */
  const gather = Effect.fnUntraced(function* (log: SigningLog, { checkpoint }: Offered) {
    const { value } = yield* log.standing;
    if (policy === null || value === null || value.ended !== null) return null;
    if (!(yield* isDue(checkpoint.head, value.published))) return null;
    const note = yield* gatherCosignatures(log.tree, checkpoint, policy, witnesses);
    if (note === null) return "quorum_missing" as const;
    yield* publish(log, note, checkpoint.head.size);
    return null;
  });

  const attempt = (log: SigningLog, offered: Offered) =>
    gather(log, offered).pipe(
      Effect.provideService(SyncEpoch, offered.epoch),
      Effect.catch((failure) => {
        const tried = "a checkpoint could not be published, and is tried again";
        const hinders: LogHindrance = "store_or_ledger_unavailable";
        return Effect.as(Effect.logWarning(tried, { failure: failure._tag }), hinders);
      }),
    );

  return {
    /** What keeps the offered checkpoint from being published, null for nothing. */
    hindrance: Ref.get(hindrance),
    isDue,
    /** Publishes a signed checkpoint at once where no witness is asked; otherwise it is offered next. */
    offer: Effect.fnUntraced(function* (log: SigningLog, checkpoint: SignedCheckpoint) {
      if (policy === null || policy.witnesses.length === 0)
        yield* publish(log, printSignedCheckpoint(checkpoint, []), checkpoint.head.size);
      else yield* Queue.offer(newest, { checkpoint, epoch: yield* SyncEpoch });
    }),
    /** Offers a log's checkpoints for as long as it runs. */
    run: Effect.fnUntraced(function* (log: SigningLog) {
      let offered = yield* Queue.take(newest);
      for (;;) {
        const { epoch } = offered;
        const over = Effect.as(untilOver(epoch), null);
        const hinders = yield* Effect.raceFirst(attempt(log, offered), over);
        yield* Ref.set(hindrance, hinders);
        if (!(yield* isWriter(epoch))) {
          offered = yield* Queue.take(newest);
          continue;
        }
        const wait = hinders === null ? OFFER_UNCHANGED_EVERY : TRY_AGAIN;
        const newer = yield* Effect.timeoutOption(Queue.take(newest), wait);
        offered = Option.getOrElse(newer, () => offered);
      }
    }),
  };
});
