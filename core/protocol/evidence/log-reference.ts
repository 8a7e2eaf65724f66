import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import { parseTlogProof, type TlogProof } from "../../log/checkpoint/tlog-proof.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import { fail, objectIn, textIn, wholeIn } from "./packet-form.ts";

/** A packet's `references.log`, in the right form. Nothing in it is verified yet. */
export type LogReference = {
  /** The 16 hex digits of the log's origin: the network that the log is of. */
  readonly networkId: string;
  readonly proof: TlogProof;
  /** What the proof's checkpoint states, its origin among it. */
  readonly checkpoint: Checkpoint;
};

/** A text that has a value or a fault, whose value is taken. @throws WrongForm */
const valueOf = <A>(what: string, parsed: { readonly value: A } | { readonly fault: string }): A =>
  "value" in parsed ? parsed.value : fail(`${what}: ${parsed.fault}`);

/**
 * A packet's `references.log`: null, or an origin, an index and the tlog-proof that states both again.
 * See docs/verify-evidence.md, "The packet". @throws WrongForm
 */
export const logReferenceIn = (value: Json | undefined): LogReference | null => {
  if (value === null) return null;
  const what = "references.log";
  const log = objectIn(value, what, ["origin", "index", "proof"]);
  const origin = textIn(log["origin"], `${what}.origin`);
  const { networkId } = valueOf(`${what}.origin`, parseLogOrigin(origin));
  const index = wholeIn(log["index"], `${what}.index`, Number.MAX_SAFE_INTEGER);
  const proof = valueOf(`${what}.proof`, parseTlogProof(textIn(log["proof"], `${what}.proof`)));
  const { checkpoint } = valueOf(`${what}.proof`, parseCheckpoint(proof.checkpoint));
  if (proof.index !== index) fail(`${what}.index is not that of the proof`);
  if (checkpoint.origin !== origin) fail(`${what}.origin is not that of the checkpoint`);
  return { networkId, proof, checkpoint };
};
