import { Data, Effect } from "effect";
import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import type { NoteSignature } from "../../log/notes/signed-note.ts";
import type { VerifierKey } from "../../log/notes/verifier-key.ts";
import { verifyNote } from "../../log/notes/verify-note.ts";
import { parseAddCheckpoint } from "../../log/witness/add-checkpoint.ts";

/** The request, or the checkpoint in it, cannot be read. `detail` completes a sentence and quotes nothing. */
export class CheckpointMalformed extends Data.TaggedError("CheckpointMalformed")<{
  readonly detail: string;
}> {}

/** The checkpoint's origin is no log of this witness, or one of another network than its node's. */
export class LogUnknown extends Data.TaggedError("LogUnknown")<{ readonly detail: string }> {}

/** The log's key did not sign the checkpoint. */
export class LogSignatureInvalid extends Data.TaggedError("LogSignatureInvalid") {}

/** The checkpoint contradicts what was cosigned, the log's own tiles or the witness's node. */
export class CheckpointRefused extends Data.TaggedError("CheckpointRefused")<{
  readonly detail: string;
}> {}

/** Why a witness cannot judge a checkpoint yet. */
export type WitnessLack =
  /** Its node has finalized fewer events than the checkpoint covers. */
  | "node_behind"
  /** Its node has finalized more, and the log does not serve the tiles that lead there yet. */
  | "node_ahead"
  | "node_unavailable"
  /** The node gave two different roots for one size. */
  | "node_contradicts_itself"
  /** The node shows fewer events than were cosigned. */
  | "node_rolled_back"
  | "log_unavailable"
  | "another_request"
  | "state_unavailable"
  /** Whoever holds the witness's key gives no signature. What was cosigned stands in its state already. */
  | "key_unavailable";

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

/** A log that a witness watches, by one of its keys. The key's name is the log's origin. */
export type WitnessedLog = {
  /** With use `ed25519`. */
  readonly key: VerifierKey;
  /** The address that `/log/tile/...` stands under. */
  readonly url: URL;
};

/** A checkpoint that a watched log has signed, and what came with it. */
export type OfferedCheckpoint = {
  readonly log: WitnessedLog;
  readonly checkpoint: Checkpoint;
  /** What the log signed. */
  readonly text: string;
  /** The log's signatures of it that verified: one, and two while its keys are rotated and both are known. */
  readonly signatures: ReadonlyArray<NoteSignature>;
  readonly oldSize: number;
  readonly proof: ReadonlyArray<Uint8Array>;
};

/**
 * The checkpoint that a request's body offers, once its log's signature verifies (C2SP tlog-witness, "add-checkpoint").
 */
export const readOffer = Effect.fnUntraced(function* (
  logs: ReadonlyArray<WitnessedLog>,
  body: string,
) {
  const request = parseAddCheckpoint(body);
  if ("fault" in request) return yield* new CheckpointMalformed({ detail: request.fault });
  const { oldSize, proof, checkpoint: note } = request.value;
  const parsed = parseCheckpoint(note);
  if ("fault" in parsed) return yield* new CheckpointMalformed({ detail: parsed.fault });
  const { checkpoint } = parsed.value;
  const ofOrigin = logs.filter(({ key }) => key.name === checkpoint.origin);
  if (ofOrigin.length === 0)
    return yield* new LogUnknown({ detail: "no log of this witness has this origin" });
  const { note: signed } = parsed.value;
  const keys = ofOrigin.map(({ key }) => key);
  const verified = verifyNote(signed, keys);
  if ("fault" in verified) return yield* new LogSignatureInvalid();
  const log = ofOrigin.find(({ key }) => verified.value.some((each) => each.key === key));
  if (log === undefined) return yield* new LogSignatureInvalid();
  const signatures = keys.flatMap(
    ({ name, id }) => signed.signatures.find((line) => line.name === name && line.id === id) ?? [],
  );
  if (oldSize > checkpoint.size)
    return yield* new CheckpointMalformed({ detail: "the old size is above the checkpoint's" });
  const offer: OfferedCheckpoint = {
    log,
    checkpoint,
    text: signed.text,
    signatures,
    oldSize,
    proof,
  };
  return offer;
});
