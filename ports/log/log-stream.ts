import { Context, Data, type Effect } from "effect";

/** The stream cannot be reached, refuses what it is given, or holds what is no entry of the log. */
export class LogStreamUnavailable extends Data.TaggedError("LogStreamUnavailable")<{
  /** A clause without a password. */
  readonly reason: string;
}> {}

/** An entry of the log as a stream takes it. */
export type StreamedEntry = {
  /** By which readers choose; of lower-case letters and underscores. */
  readonly kind: string;
  /** The leaf's exact bytes. */
  readonly leaf: Uint8Array;
};

/** Where a log's stream ends. */
export type StreamEnd = {
  /** Entries that were ever put into it, whatever it still keeps. The next one has this index. */
  readonly size: number;
  /** The leaf before it; null when there is none, or the stream keeps it no more. */
  readonly last: Uint8Array | null;
};

/** A stream for each log, which keeps an entry for each leaf, in the order of their indices. */
export class LogStream extends Context.Service<
  LogStream,
  {
    /** The end of the stream of the log with this origin. It is made where there is none. */
    readonly end: (origin: string) => Effect.Effect<StreamEnd, LogStreamUnavailable>;
    /**
     * Appends entries, of which the first has the index `from`. False, with none or the first few of them appended,
     * when the stream does not end there. Any number of processes may append at the same time.
     */
    readonly append: (
      origin: string,
      from: number,
      entries: ReadonlyArray<StreamedEntry>,
    ) => Effect.Effect<boolean, LogStreamUnavailable>;
  }
>()("settlement-evidence/ports/LogStream") {}
