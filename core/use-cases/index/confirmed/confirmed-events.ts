import { Context, Deferred, Duration, Effect, Queue, Stream } from "effect";
import {
  type ConfirmedHistory,
  ConfirmedSignals,
} from "../../../../ports/ledger/confirmed-ledger.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { Instance } from "../../../../ports/instance.ts";
import type { Ledger } from "../../../../ports/ledger/ledger.ts";
import type { ToldTransaction } from "../../../../ports/ledger/ledger-signals.ts";
import type { SyncMark } from "../../../domain/index/sync-report.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import { IndexGrowth } from "../follow-events.ts";
import { monotonicMs } from "../../single-flight.ts";
import { SignalDistance } from "../sync/signal-distance.ts";
import { LAG_RETRIES } from "../sync/ledger/custody-tip.ts";
import { ConfirmedJournal } from "./confirmed-journal.ts";
import {
  type ConfirmedChain,
  type ConfirmedTip,
  readAllConfirmed,
  readConfirmed,
} from "./read-confirmed.ts";

/** Between two reads of the custody config where no signals come. */
const LOOK_WITHOUT_SIGNALS = Duration.seconds(1);
/** The same while a subscription is live: a signal may be lost. */
const LOOK_WITH_SIGNALS = Duration.seconds(10);
/** Transactions that were told of and are not accounted for. Of more, the history tells. */
const MOST_TOLD = 4096;
/** The most of them that are read again where a node shows late what it tells. */
const MOST_TOLD_AGAIN = 64;
/** Between two attempts after a store or a bug failed one. */
const AGAIN = Duration.seconds(1);
/** Events per read of the store. */
const MOST_AT_ONCE = 100;
/** The longest that a final event waits for the retraction of what it replaces. */
const MOST_BEHIND = Duration.seconds(2);

/**
 * The events that are confirmed and not final, for all streams of a process. Nobody asks a node while no stream wants
 * them.
 */
export class ConfirmedEvents extends Context.Service<
  ConfirmedEvents,
  {
    /** Counts one more stream. The events of now, and what becomes of them. */
    readonly join: Effect.Effect<ConfirmedJournal>;
    /** Counts one stream less. */
    readonly leave: () => void;
    /** Completes once there are changes behind the `cursor`th, or the journal is no longer kept. */
    readonly beyond: (journal: ConfirmedJournal, cursor: number) => Effect.Effect<void>;
    /** Whether the journal is kept up. */
    readonly keeps: (journal: ConfirmedJournal) => boolean;
    /** Completes once the events up to a number are known to be final, after two seconds at most. */
    readonly finalTo: (journal: ConfirmedJournal, position: bigint) => Effect.Effect<void>;
  }
>()("settlement-evidence/core/use-cases/ConfirmedEvents") {}

/**
 * The longest distance between two looks that signals cause while they find nothing, milliseconds. Anybody can cause
 * signals, by transactions that name the program and make no event.
 */
const MOST_DISTANCE_MS = 2_000;

/** What one run of the watch knows. It begins anew with the first stream. */
class Watched {
  readonly journal = new ConfirmedJournal(0n);
  /** The last mark of the index, null before the first. */
  mark: SyncMark | null = null;
  /** The last confirmed state that was proved. */
  tip: ConfirmedTip | null = null;
  readonly told = new Map<LedgerSignature, ToldTransaction>();
  readonly distance = new SignalDistance(0, MOST_DISTANCE_MS);
}

/** Tells the journal which events have become final since the last look. Fails like the store. */
const followIndex = Effect.fnUntraced(function* (watched: Watched, changed: () => void) {
  const index = yield* IndexReader;
  const { journal } = watched;
  const { mark } = yield* index.summary;
  if (mark === null) return;
  while (journal.finalTo < mark.count) {
    // Final events that were never confirmed need no look.
    const [first] = journal.pending;
    if (first === undefined || first.position > mark.count) journal.finalize(mark.count, []);
    else {
      const after = first.position - 1n;
      const page = yield* index.events({}, MOST_AT_ONCE, { after });
      const last = page.at(-1)?.position ?? mark.count;
      const to = page.length < MOST_AT_ONCE || last > mark.count ? mark.count : last;
      const isContradicted = journal.finalize(to, page);
      // What was confirmed behind a wrong event has to be proved anew.
      if (isContradicted) watched.tip = null;
    }
  }
  watched.mark = mark;
  changed();
});

/** The newest slot that the transactions were told at. */
const newestOf = (told: Iterable<ToldTransaction>): bigint =>
  [...told].reduce((newest, { slot }) => (slot > newest ? slot : newest), 0n);

/**
 * Reads what the ledger has confirmed since the last reading and, where that does not go on from there, since the
 * index's mark. False where neither is proved. Fails like the ledger. After signals of nothing it asks for the config
 * alone first: while that is unchanged, no told transaction is read.
 */
const look = Effect.fnUntraced(function* (watched: Watched, changed: () => void) {
  const { mark, tip, told } = watched;
  if (mark === null) return true;
  const signatures = [...told.keys()];
  const slots = [mark.slot, tip?.slot ?? 0n, newestOf(told.values())];
  const notBefore = slots.reduce((newest, slot) => (slot > newest ? slot : newest));
  const base = tip === null || tip.count < mark.count ? mark : tip;
  const unchanged =
    watched.distance.isWary && told.size > 0 ? yield* readConfirmed({ base, notBefore }, []) : null;
  const onwards = unchanged ?? (yield* readConfirmed({ base, notBefore }, signatures));
  const chain: ConfirmedChain | null =
    onwards ?? (yield* readAllConfirmed({ base: mark, notBefore }, mark.slot, signatures));
  if (chain === null) return false;
  for (const signature of signatures) told.delete(signature);
  const isFork = chain !== onwards;
  const hadNews = isFork || chain.tip.count !== base.count;
  if (signatures.length > 0) watched.distance.ended(yield* monotonicMs, hadNews);
  watched.tip = chain.tip;
  watched.journal.stand(chain);
  changed();
  return true;
});

/** The process's one `ConfirmedEvents`. It reads the ledger only while a stream wants confirmed events. */
export const makeConfirmedEvents = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const signals = yield* ConfirmedSignals;
  const context = yield* Effect.context<
    ConfirmedHistory | IndexGrowth | IndexReader | Instance | Ledger
  >();
  let streams = 0;
  let watched: Watched | null = null;
  let news = Deferred.makeUnsafe<void>();
  let nobody = Deferred.makeUnsafe<void>();

  const changed = (): void => {
    const told = news;
    news = Deferred.makeUnsafe();
    Deferred.doneUnsafe(told, Effect.void);
  };
  /** Completes once a condition holds, which is looked at after each change. */
  const until = (holds: () => boolean) =>
    Effect.gen(function* () {
      while (!holds()) yield* Deferred.await(news);
    });

  const followingIndex = Effect.fnUntraced(function* (run: Watched, begun: Queue.Queue<void>) {
    for (;;) {
      const isFirst = run.mark === null;
      yield* followIndex(run, changed);
      if (isFirst || run.tip === null) yield* Queue.offer(begun, undefined);
      yield* IndexGrowth.use(({ beyond }) => beyond(run.mark?.count ?? 0n));
    }
  });

  const followingLedger = Effect.fnUntraced(function* (run: Watched, due: Queue.Queue<void>) {
    yield* Effect.forkChild(
      Stream.runForEach(signals.changes, (signal) => {
        if (signal !== null && run.told.size < MOST_TOLD) run.told.set(signal.signature, signal);
        return Queue.offer(due, undefined);
      }),
    );
    for (;;) {
      const proved = yield* Effect.repeat(look(run, changed), {
        schedule: LAG_RETRIES,
        // In a flood one read does for all.
        until: (isProved) => isProved || run.told.size > MOST_TOLD_AGAIN,
      }).pipe(
        Effect.catch((failure) =>
          Effect.as(
            Effect.logDebug("confirmed events cannot be read now", { failure: failure._tag }),
            true,
          ),
        ),
      );
      if (!proved) {
        run.distance.ended(yield* monotonicMs, false);
        yield* Effect.logDebug("the ledger's confirmed events are not proved by its root");
        run.told.clear();
      }
      const { isLive } = yield* signals.standing;
      const signalled = Effect.gen(function* () {
        yield* Queue.take(due);
        yield* Effect.sleep(run.distance.waitMs(yield* monotonicMs));
        // Whatever was signalled meanwhile is part of the same look.
        yield* Queue.clear(due);
      });
      yield* Effect.timeoutOption(signalled, isLive ? LOOK_WITH_SIGNALS : LOOK_WITHOUT_SIGNALS);
    }
  });

  const watch = Effect.gen(function* () {
    for (;;) {
      if (streams === 0) return;
      const run = (watched ??= new Watched());
      nobody = Deferred.makeUnsafe();
      const due = yield* Queue.sliding<void>(1);
      const both = Effect.all([followingIndex(run, due), followingLedger(run, due)], {
        concurrency: 2,
        discard: true,
      });
      const isSound = yield* Effect.raceFirst(both, Deferred.await(nobody)).pipe(
        Effect.as(true),
        Effect.catch((failure) =>
          Effect.as(
            Effect.logDebug("confirmed events are begun anew", { failure: failure._tag }),
            false,
          ),
        ),
        Effect.catchDefect((defect) =>
          Effect.as(Effect.logError("confirmed events broke, and are begun anew", defect), false),
        ),
      );
      // A stream may have come just after the last one left.
      if (isSound && streams > 0) continue;
      // The streams of this run end, and their clients come back.
      watched = null;
      changed();
      if (!isSound) yield* Effect.sleep(AGAIN);
    }
  }).pipe(Effect.provide(context));

  let isWatching = false;
  const keeps = (journal: ConfirmedJournal): boolean => watched?.journal === journal;
  return ConfirmedEvents.of({
    join: Effect.suspend(() => {
      streams += 1;
      const { journal } = (watched ??= new Watched());
      const ended = Effect.sync(() => {
        isWatching = false;
        watched = null;
      });
      const forked = isWatching ? Effect.void : Effect.forkIn(Effect.ensuring(watch, ended), scope);
      isWatching = true;
      return Effect.as(forked, journal);
    }),
    leave: () => {
      streams -= 1;
      if (streams === 0) Deferred.doneUnsafe(nobody, Effect.void);
    },
    beyond: (journal, cursor) => until(() => journal.end > cursor || !keeps(journal)),
    keeps,
    finalTo: (journal, position) =>
      Effect.ignore(
        Effect.timeoutOption(
          until(() => journal.finalTo >= position || !keeps(journal)),
          MOST_BEHIND,
        ),
      ),
  });
});
