import { Effect, Layer } from "effect";
import {
  LogStream,
  LogStreamUnavailable,
  type StreamedEntry,
  type StreamEnd,
} from "../../ports/log/log-stream.ts";

/** What a server does with one request. */
export type StreamReaction = {
  /** Before it takes effect, milliseconds. */
  readonly takesMs: number;
  /** The share of the entries that it takes, [0, 1]. */
  readonly taken: number;
  /** Whether it answers then, fails, or is not heard of until the request has taken too long. */
  readonly outcome: "answers" | "fails" | "hangs";
};

const WELL: StreamReaction = { takesMs: 0, taken: 1, outcome: "answers" };

/** Streams in memory, which outlive the processes that fill them. */
export class StreamServer {
  readonly streams = new Map<string, Array<StreamedEntry>>();
  /** What it does with the next requests, in this order; with those behind them all is well. */
  reactions: Array<StreamReaction> = [];

  entries(origin: string): Array<StreamedEntry> {
    const entries = this.streams.get(origin) ?? [];
    this.streams.set(origin, entries);
    return entries;
  }

  #react<A>(take: (share: number) => A): Effect.Effect<A, LogStreamUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { takesMs, taken, outcome } = this.reactions.shift() ?? WELL;
      yield* Effect.sleep(takesMs);
      const answer = take(taken);
      if (outcome === "answers") return answer;
      if (outcome === "hangs") yield* Effect.sleep("5 seconds");
      return yield* new LogStreamUnavailable({ reason: "it failed" });
    });
  }

  readonly layer = Layer.succeed(LogStream, {
    end: (origin) =>
      this.#react((): StreamEnd => {
        const entries = this.entries(origin);
        return { size: entries.length, last: entries.at(-1)?.leaf ?? null };
      }),
    append: (origin, from, entries) =>
      this.#react((share) => {
        const kept = this.entries(origin);
        if (kept.length !== from) return false;
        kept.push(...entries.slice(0, Math.ceil(share * entries.length)));
        return kept.length === from + entries.length;
      }),
  });
}
