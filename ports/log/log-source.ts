import { Context, Data, type Effect } from "effect";

/** A log did not answer, answered too much, or with a status that says nothing about its tiles. */
export class LogUnavailable extends Data.TaggedError("LogUnavailable")<{
  readonly cause: unknown;
}> {}

/** The longest tile that is read, in bytes: 256 hashes. */
export const MAX_TILE_BYTES = 8192;

/** A tile of a log (core/log/tiles/tile-path.ts). */
export type SourceTile = {
  readonly level: number | "entries";
  /** Which one of its level, from 0 on. */
  readonly index: number;
  /** How many hashes it has, [1, 256]. */
  readonly width: number;
};

/** Reads the tiles of hashes that logs publish. What a log serves proves nothing by itself. */
export class LogSource extends Context.Service<
  LogSource,
  {
    /** The bytes of a tile of the log at an address, null where the log has none. At most `MAX_TILE_BYTES`. */
    readonly tile: (log: URL, tile: SourceTile) => Effect.Effect<Uint8Array | null, LogUnavailable>;
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
