import { kind, type ProblemKind } from "./problem-kind.ts";

/** Problems of a checkpoint that is offered to a witness. */
export const WITNESS_PROBLEMS = {
  checkpoint_malformed: kind(
    400,
    "The checkpoint cannot be read",
    "The body is not what C2SP tlog-witness says of `add-checkpoint`, or the old size is above the checkpoint's.",
    "Send the line `old` with a size, the consistency proof, an empty line and the signed checkpoint.",
  ),
  log_signature_invalid: kind(
    403,
    "The log's key did not sign the checkpoint",
    "No signature under the checkpoint verifies under the key that this witness has for its origin.",
    "Give the witness's operator the log's present key.",
  ),
  log_unknown: kind(
    404,
    "This witness does not watch the log",
    "The checkpoint's origin is not among the witness's logs, or names another network than the one of its node.",
    "Give the witness's operator the log's key and address. A log of another network needs another witness.",
  ),
  checkpoint_refused: kind(
    422,
    "The witness refuses the checkpoint",
    "The checkpoint contradicts what the witness cosigned before, the entries that the log serves, or the events that the witness's node has finalized. A checkpoint of which that is certain is kept.",
    "Compare the log's entries with the ledger. A log that signed other entries has to end.",
  ),
  witness_not_ready: kind(
    503,
    "The witness cannot judge the checkpoint yet",
    "The witness's node has not finalized as many events, or more than the log serves; or the node, the log or the witness's state does not answer; or another checkpoint of the log is being judged.",
    "Offer the same checkpoint again after the seconds in `Retry-After`.",
  ),
} as const satisfies Readonly<Record<string, ProblemKind>>;
