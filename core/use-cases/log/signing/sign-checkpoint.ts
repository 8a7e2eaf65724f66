import { Effect } from "effect";
import { hash32ToBytes } from "../../../domain/hash32.ts";
import { checkpointText } from "../../../log/checkpoint/checkpoint.ts";
import { type NoteSignature, printSignedNote } from "../../../log/notes/signed-note.ts";
import { verifierKey } from "../../../log/notes/verifier-key.ts";
import { noteMessage } from "../../../log/notes/verify-note.ts";
import type { LogKey } from "../../../../ports/log/log-signer.ts";
import type { SignedHead } from "../log-standing.ts";

/** A checkpoint that the log has signed. */
export type SignedCheckpoint = {
  readonly head: SignedHead;
  /** What was signed: origin, size and root. */
  readonly text: string;
  readonly signature: NoteSignature;
};

/** Signs a head. The same head always gets the same signature, so signing again tells nobody anything new. */
export const signCheckpoint = Effect.fnUntraced(function* (key: LogKey, head: SignedHead) {
  const { origin, size, root } = head;
  const text = checkpointText({ origin, size, root: hash32ToBytes(root) });
  const { name, id } = verifierKey(origin, "ed25519", key.publicKey);
  const signature = yield* key.sign(noteMessage(text));
  const signed: SignedCheckpoint = { head, text, signature: { name, id, signature } };
  return signed;
});

/** A signed checkpoint as a note, with cosignatures behind the log's signature. */
export const printSignedCheckpoint = (
  { text, signature }: SignedCheckpoint,
  cosignatures: ReadonlyArray<NoteSignature>,
): string => printSignedNote({ text, signatures: [signature, ...cosignatures] });
