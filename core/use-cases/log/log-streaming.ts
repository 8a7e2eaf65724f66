import { Context, Duration, Effect } from "effect";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { LogStream, LogStreamUnavailable } from "../../../ports/log/log-stream.ts";
import type { LogStore } from "../../../ports/log/log-store.ts";
import { eventKindOf } from "../../domain/index/settlement-event.ts";
import { eventInLeaf } from "../../log/leaf/event-leaf.ts";
import { decodeEntryBundle } from "../../log/tiles/entry-bundle.ts";
import { TILE_WIDTH } from "../../log/tiles/tile-path.ts";
import { isSameHash } from "../../log/tree/tree-hash.ts";
import { monotonicMs } from "../single-flight.ts";
import { LogPublisher } from "./log-publisher.ts";
import { type PublishedLog, SettlementLog } from "./serving/published-log.ts";
import { readTileOf } from "./serving/read-log.ts";

/** Between two looks at what is published: a log signs once a second at most. */
const LOOK_EVERY = Duration.seconds(1);
/** Between two looks at where the stream ends while nothing grows: its server may be away, or have lost its end. */
const READ_EVERY_MS = Duration.toMillis(Duration.seconds(30));
/** The pause behind a failure. */
const TRY_AGAIN = Duration.seconds(5);

/** How the log's stream stands in this process. */
export type LogStreamReport = {
  /** Published leaves that are not in the stream; null where that is not known, or another process streams. */
  readonly behind: number | null;
  /** Why the last attempt failed, null when it did not. */
  readonly problem: string | null;
};

/** Puts the published leaves of the log into a stream; does nothing where none is configured. */
export const LogStreaming = Context.Reference<{
  /** Streams for as long as it runs; the process runs it once. */
  readonly run: Effect.Effect<never>;
  /** Null without a stream. */
  readonly report: Effect.Effect<LogStreamReport | null>;
}>("settlement-evidence/core/use-cases/LogStreaming", {
  defaultValue: () => ({ run: Effect.never, report: Effect.succeed(null) }),
});

/** What readers of the stream choose by: the kind of the leaf's event, or `network` for leaf 0. */
const kindOf = (leaf: Uint8Array): string => {
  const event = eventInLeaf(leaf);
  return event === null ? "network" : eventKindOf(event.state);
};

/** The leaves from an index on, up to the end of their bundle or of the published tree. */
const leavesFrom = Effect.fnUntraced(function* (log: PublishedLog, from: number, size: number) {
  const index = Math.floor(from / TILE_WIDTH);
  const first = index * TILE_WIDTH;
  const width = Math.min(TILE_WIDTH, size - first);
  const bundle = yield* readTileOf(log, { level: "entries", index, width });
  const leaves = decodeEntryBundle(bundle, width);
  if ("fault" in leaves)
    return yield* new StoreUnavailable({ retryable: true, cause: leaves.fault });
  return leaves.value.slice(from - first);
});

/**
 * The process's one `LogStreaming`. It keeps no position: the stream says where it ends, and takes an entry only there.
 * So a killed process goes on with the next leaf, and of several processes none puts a leaf in twice.
 */
export const makeLogStreaming = Effect.gen(function* () {
  const services = yield* Effect.context<LogStore | LogPublisher | LogStream | SettlementLog>();
  const stream = yield* LogStream;
  const { published } = yield* SettlementLog;
  const { status } = yield* LogPublisher;
  /** Where the stream of a log ended when that was known last, and since when it is, monotonic; null before. */
  let reached: { readonly origin: string; readonly size: number; readonly readMs: number } | null =
    null;
  let report: LogStreamReport = { behind: null, problem: null };
  /** Has the next look read the stream's end. */
  const readAnew = (): void => {
    if (reached !== null) reached = { ...reached, readMs: -Infinity };
  };

  /** The stream's end. Fails where its last entry is not the log's. */
  const findEnd = Effect.fnUntraced(function* (log: PublishedLog, origin: string, size: number) {
    const end = yield* stream.end(origin);
    const read = { origin, size: end.size, readMs: yield* monotonicMs };
    if (end.last === null || end.size > size) return read;
    const [leaf] = yield* leavesFrom(log, end.size - 1, size);
    if (leaf !== undefined && isSameHash(leaf, end.last)) return read;
    const reason = `its entry ${end.size - 1} is not the log's`;
    return yield* new LogStreamUnavailable({ reason });
  });

  /** Brings the stream to the published size, where this process publishes. */
  const round = Effect.gen(function* () {
    const { state } = yield* status;
    const log = state === "publishing" || state === "ended" ? yield* published : null;
    if (!log?.checkpoint) {
      reached = null;
      report = { behind: null, problem: null };
      return;
    }
    const { origin } = log.standing.signed;
    const { size } = log.checkpoint;
    let end = reached?.origin === origin ? reached : null;
    report = { ...report, behind: end && Math.max(0, size - end.size) };
    if (end === null || (yield* monotonicMs) - end.readMs >= READ_EVERY_MS)
      end = yield* findEnd(log, origin, size);
    for (reached = end; reached.size < size;) {
      report = { ...report, behind: size - reached.size };
      const from: number = reached.size;
      const entries = (yield* leavesFrom(log, from, size)).map((leaf) => ({
        kind: kindOf(leaf),
        leaf,
      }));
      if (!(yield* stream.append(origin, from, entries))) {
        // Another process was faster, or the stream has lost its end: the next look reads it again.
        readAnew();
        return;
      }
      reached = { ...reached, size: from + entries.length };
    }
    if (report.problem !== null)
      yield* Effect.logInfo("the stream of the settlement log takes entries again");
    report = { behind: 0, problem: null };
  });

  const attempt = round.pipe(
    Effect.as(LOOK_EVERY),
    Effect.catchTags({
      LogStreamUnavailable: ({ reason }) => Effect.succeed(reason),
      NotInLog: () => Effect.succeed("the log does not have these entries"),
      // Nothing is wrong with the stream. Who reads the store says what is wrong with it.
      StoreUnavailable: () => Effect.as(Effect.sync(readAnew), TRY_AGAIN),
    }),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("the stream of the settlement log broke", defect), "it broke"),
    ),
    Effect.flatMap((ended) => {
      if (typeof ended !== "string") return Effect.succeed(ended);
      const isNew = report.problem !== ended;
      readAnew();
      report = { ...report, problem: ended };
      const told = "the settlement log cannot be streamed, and is tried again";
      const tell = isNew ? Effect.logWarning : Effect.logDebug;
      return Effect.as(tell(told, { reason: ended }), TRY_AGAIN);
    }),
  );
  return {
    run: attempt.pipe(Effect.flatMap(Effect.sleep), Effect.forever, Effect.provide(services)),
    report: Effect.sync(() => report),
  };
});
