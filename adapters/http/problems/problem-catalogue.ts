import { projectCommand } from "../../../core/domain/project-command.ts";
import { kind, type ProblemKind } from "./problem-kind.ts";
import { RELAY_PROBLEMS } from "./relay-problems.ts";
import { REQUEST_PROBLEMS } from "./request-problems.ts";

/** Problems of the service itself: its ledger nodes, its store, its queue of relays. */
const SERVICE_PROBLEMS = {
  internal_error: kind(
    500,
    "The service made a mistake",
    "Something failed that should not. The request id leads the operator to it in the log.",
    "Report the request id. Repeating a read is safe; for a relay, ask for the transaction's outcome first.",
  ),
  ledger_unavailable: kind(
    502,
    "The ledger node gave no usable answer",
    "The service asked a node of the ledger and could not use the answer. This says nothing about the account or transaction that was asked about.",
    "Ask again shortly; `/v1/status` shows the node's state.",
  ),
  slot_beyond_reach: kind(
    502,
    "The ledger node claims a slot that is out of reach",
    "A sync of the index refused the slot that a node claims: the ledger cannot have reached it by this service's clock, or it is more than 64 slots below the one at which the index stands. Nothing was written, and the index is served as it was. `detail` names the JSON-RPC method whose answer has the slot.",
    "Ask again shortly: another node may answer. The operator compares the node's slot with another node's, and the clock of the service's machine with the time.",
  ),
  not_ready: kind(
    503,
    "The service is not ready",
    "`errors` names what is missing: the store or the ledger does not answer, the ledger is another one than the store's, the programs at the configured addresses are not initialised for each other, are initialised for another ledger or are not those that the operator pins, or the index has not been synced yet, so that a list would be empty or old without saying so.",
    "Ask again shortly. If it stays so, `cure` says what the operator can do about the first of them, and `/v1/status` shows more.",
  ),
  client_package_unavailable: kind(
    503,
    "The client package could not be built",
    "The service builds its client package when it is first asked for, and the build failed. Everything else works.",
    `Build it from the repository with \`${projectCommand("build")}\`, which says what is wrong.`,
  ),
  store_unavailable: kind(
    503,
    "The index cannot be read or written",
    "The store behind the index failed. Reads straight from the ledger still work.",
    "Ask again after the seconds in `Retry-After`.",
  ),
  evidence_key_unavailable: kind(
    503,
    "Nobody signs evidence now",
    "Whoever holds the evidence key for this service gave no signature in time, or one of another key. Nothing was signed. Packets that were signed before are served.",
    "Ask again after the seconds in `Retry-After`.",
  ),
  relay_queue_full: kind(
    503,
    "The relay is full",
    "The relay's queue has as many pending transactions of all clients as it may have. Nothing was sent.",
    "Send the same transaction again after the seconds in `Retry-After`.",
  ),
  shutting_down: kind(
    503,
    "The service is shutting down",
    "This instance finishes its requests and accepts no new ones.",
    "Ask again; another instance, or the next start, will answer.",
  ),
  ledger_timeout: kind(
    504,
    "The ledger node did not answer in time",
    "The service asked a node of the ledger and waited as long as it may.",
    "Ask again shortly; `/v1/status` shows the node's state.",
  ),
} as const satisfies Readonly<Record<string, ProblemKind>>;

/** Problems of a checkpoint that is offered to a witness. */
const WITNESS_PROBLEMS = {
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
    "The witness's node has not finalized as many events, or more than the log serves; or the node, the log, the witness's state or whoever holds its key does not answer; or another checkpoint of the log is being judged.",
    "Offer the same checkpoint again after the seconds in `Retry-After`.",
  ),
} as const satisfies Readonly<Record<string, ProblemKind>>;

/**
 * Every problem this service answers with, by its stable code. Codes are append-only: a published one
 * keeps its meaning and its status.
 */
export const PROBLEM_CATALOGUE = {
  ...REQUEST_PROBLEMS,
  ...RELAY_PROBLEMS,
  ...WITNESS_PROBLEMS,
  ...SERVICE_PROBLEMS,
} as const;

/** The stable name of a problem. */
export type ProblemCode = keyof typeof PROBLEM_CATALOGUE;

/** Every code, in the order of the catalogue. */
export const PROBLEM_CODES = Object.keys(PROBLEM_CATALOGUE) as ReadonlyArray<ProblemCode>;

/** Whether a text is the code of a problem. */
export const isProblemCode = (text: string): text is ProblemCode =>
  Object.hasOwn(PROBLEM_CATALOGUE, text);
