import { Data } from "effect";

/** The request, or the checkpoint in it, cannot be read. `detail` completes a sentence and quotes nothing. */
export class CheckpointMalformed extends Data.TaggedError("CheckpointMalformed")<{
  readonly detail: string;
}> {}

/** The checkpoint's origin is no log of this witness, or one of another network than its node's. */
export class LogUnknown extends Data.TaggedError("LogUnknown")<{ readonly detail: string }> {}

/** The log's key did not sign the checkpoint. */
export class LogSignatureInvalid extends Data.TaggedError("LogSignatureInvalid") {}

/** The checkpoint contradicts what was cosigned, its own entries or the witness's node. */
export class CheckpointRefused extends Data.TaggedError("CheckpointRefused")<{
  readonly detail: string;
}> {}

/** Why a witness cannot judge a checkpoint yet. */
export type WitnessLack =
  /** Its node has finalized fewer events than the checkpoint covers. */
  | "node_behind"
  /** Its node has finalized more, and the log does not serve the entries between yet. */
  | "node_ahead"
  | "node_unavailable"
  /** The node gave two different heads for one count. */
  | "node_contradicts_itself"
  | "log_unavailable"
  /** The entries are many; the next request goes on where this one stopped. */
  | "replay_unfinished"
  | "another_request"
  | "state_unavailable";

/** The witness cannot judge the checkpoint yet; asking again after `retrySeconds` can help. */
export class WitnessNotReady extends Data.TaggedError("WitnessNotReady")<{
  readonly lack: WitnessLack;
  readonly retrySeconds: number;
}> {}

/** How a witness fails to answer with a cosignature or a size. */
export type WitnessFailure =
  | CheckpointMalformed
  | LogUnknown
  | LogSignatureInvalid
  | CheckpointRefused
  | WitnessNotReady;
