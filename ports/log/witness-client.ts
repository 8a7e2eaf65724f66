import { Context, Data, type Effect } from "effect";

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
