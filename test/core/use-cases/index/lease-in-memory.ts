import { Clock, Deferred, Effect } from "effect";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { SyncLease, type SyncOutcome } from "../../../../ports/index/sync-lease.ts";

const TIME_TO_LIVE_MS = 3000;

/** The state that a test's replicas share, instead of a database row. */
export const makeBoard = () => ({
  epoch: 0n,
  holder: null as number | null,
  heldUntilMs: 0,
  asked: 0n,
  answered: 0n,
  snapshotAsked: 0n,
  outcome: null as SyncOutcome | null,
  news: Deferred.makeUnsafe<void>(),
  /** Whether nothing of it can be read or written. */
  isDown: false,
  /** What it says then. */
  fault: { problem: "it takes no writes", cure: "Name the primary server." },
});

/** One replica's lease on a board. */
export const leaseOn = (board: ReturnType<typeof makeBoard>, replica: number) => {
  const tell = () => {
    const { news } = board;
    board.news = Deferred.makeUnsafe<void>();
    return Deferred.succeed(news, undefined);
  };
  return SyncLease.of({
    hold: Effect.gen(function* () {
      const { fault, isDown } = board;
      if (isDown) return yield* new StoreUnavailable({ retryable: true, cause: "down", fault });
      const nowMs = yield* Clock.currentTimeMillis;
      if (board.heldUntilMs > nowMs && board.holder !== replica) return null;
      if (board.heldUntilMs <= nowMs) board.epoch++;
      board.holder = replica;
      board.heldUntilMs = nowMs + TIME_TO_LIVE_MS;
      const { epoch, asked, answered, snapshotAsked } = board;
      return { epoch, asked, answered, snapshotAsked };
    }),
    release: Effect.suspend(() => {
      if (board.holder !== replica) return Effect.void;
      board.heldUntilMs = 0;
      return tell();
    }),
    ask: (kind) =>
      Effect.suspend(() => {
        board.asked += 1n;
        if (kind === "snapshot") board.snapshotAsked = board.asked;
        return Effect.as(tell(), board.asked);
      }),
    answer: ({ epoch, asked }, outcome) =>
      Effect.suspend(() => {
        if (epoch !== board.epoch || asked <= board.answered) return Effect.void;
        board.answered = asked;
        board.outcome = outcome;
        return tell();
      }),
    answerTo: (request) => Effect.sync(() => (board.answered >= request ? board.outcome : null)),
    news: Effect.suspend(() => Deferred.await(board.news)),
  });
};
