import { Effect } from "effect";
import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { verifyNote } from "../../log/notes/verify-note.ts";
import type { VerifierKey } from "../../log/notes/verifier-key.ts";
import { parseAddCheckpoint } from "../../log/witness/add-checkpoint.ts";
import { CheckpointMalformed, LogSignatureInvalid, LogUnknown } from "./witness-errors.ts";

/** A log that a witness watches. Its key's name is the log's origin. */
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
  /** The signed note, verbatim. */
  readonly note: string;
  readonly oldSize: number;
  readonly proof: ReadonlyArray<Uint8Array>;
};

/** The checkpoint that a request's body offers, once its log's signature verifies (C2SP tlog-witness, "add-checkpoint"). */
export const readOffer = Effect.fnUntraced(function* (
  logs: ReadonlyMap<string, WitnessedLog>,
  body: string,
) {
  const request = parseAddCheckpoint(body);
  if ("fault" in request) return yield* new CheckpointMalformed({ detail: request.fault });
  const { oldSize, proof, checkpoint: note } = request.value;
  const parsed = parseCheckpoint(note);
  if ("fault" in parsed) return yield* new CheckpointMalformed({ detail: parsed.fault });
  const { checkpoint } = parsed.value;
  const log = logs.get(checkpoint.origin);
  if (log === undefined)
    return yield* new LogUnknown({ detail: "no log of this witness has this origin" });
  if ("fault" in verifyNote(parsed.value.note, [log.key])) return yield* new LogSignatureInvalid();
  if (oldSize > checkpoint.size)
    return yield* new CheckpointMalformed({ detail: "the old size is above the checkpoint's" });
  const offer: OfferedCheckpoint = {
    log,
    checkpoint,
    text: parsed.value.note.text,
    note,
    oldSize,
    proof,
  };
  return offer;
});
