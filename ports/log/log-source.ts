import { Context, Data, type Effect } from "effect";

/** A log did not answer, answered too much, or with a status that says nothing about its entries. */
export class LogUnavailable extends Data.TaggedError("LogUnavailable")<{
  readonly cause: unknown;
}> {}

/** The longest bundle of entries that is read, in bytes: 256 leaves of 66 bytes, and leaf 0 with room to spare. */
export const MAX_BUNDLE_BYTES = 32_768;

/** Reads the entries that logs publish. What a log serves proves nothing by itself. */
export class LogSource extends Context.Service<
  LogSource,
  {
    /**
     * The bytes of a bundle of entries of the log at an address, null where the log has none. The bundle at `index`
     * holds the entries from 256 * index on, `width` of them, [1, 256]. At most `MAX_BUNDLE_BYTES`.
     */
    readonly entries: (
      log: URL,
      index: number,
      width: number,
    ) => Effect.Effect<Uint8Array | null, LogUnavailable>;
  }
>()("settlement-evidence/ports/LogSource") {}

/** A witness could not be reached, or its answer is longer than any that it may give. */
export class WitnessUnreachable extends Data.TaggedError("WitnessUnreachable")<{
  readonly reason: string;
}> {}

/** What a witness answered. */
export type WitnessAnswer = {
  readonly status: number;
  /** Without parameters, lower case; empty without one. */
  readonly contentType: string;
  /** At most 64 KiB. */
  readonly body: string;
};

/** Sends checkpoints to witnesses (C2SP tlog-witness). */
export class WitnessClient extends Context.Service<
  WitnessClient,
  {
    /** The answer to `POST <url>/add-checkpoint` with this body, within ten seconds. */
    readonly addCheckpoint: (
      url: string,
      body: string,
    ) => Effect.Effect<WitnessAnswer, WitnessUnreachable>;
  }
>()("settlement-evidence/ports/WitnessClient") {}
