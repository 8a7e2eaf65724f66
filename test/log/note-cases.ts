import { parseSignedNote } from "../../core/log/notes/signed-note.ts";
import { verifyNote } from "../../core/log/notes/verify-note.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { withFlippedBit } from "../core/log/support/reference-tree.ts";
import { signedCheckpoint, testKey } from "../core/log/support/test-signer.ts";
import type { Question } from "./go-oracle.ts";
import type { LoggedTree } from "./logged-tree.ts";

const ORIGIN = "example.com/log/0123456789abcdef/0";
const log = testKey(ORIGIN, "ed25519", 1);
const witnesses = [2, 3].map((seed) => testKey(`w${seed}.example/é`, "cosignature", seed));
const keys = [log, ...witnesses].map(({ key }) => key);

/** The text of a note and who signed it, as core/log reads it, and as Go is asked about it. */
export type NoteCase = {
  readonly text: string;
  /** Whose signatures verify; null where the note is refused. */
  readonly signers: ReadonlyArray<string> | null;
  readonly question: Question;
};

/** The names of all signers, in their order. */
export const SIGNERS: ReadonlyArray<string> = keys.map(({ name }) => name);

const caseOf = (text: string, note: string): NoteCase => {
  const read = parseSignedNote(note);
  const verified = "value" in read ? verifyNote(read.value, keys) : read;
  return {
    text,
    signers: "value" in verified ? verified.value.map(({ key }) => key.name) : null,
    question: { kind: "note", note, keys: keys.map(printVerifierKey) },
  };
};

const anyHead = (tree: LoggedTree, random: () => number) => ({
  ...tree.headAt(1 + Math.floor(random() * tree.size)),
  origin: ORIGIN,
});

/** Checkpoints of random sizes, signed by a log and cosigned by two witnesses. */
export const noteCases = (
  tree: LoggedTree,
  random: () => number,
  count: number,
): ReadonlyArray<NoteCase> =>
  Array.from({ length: count }, () => {
    const head = anyHead(tree, random);
    return caseOf(checkpointText(head), signedCheckpoint(head, log, witnesses));
  });

/**
 * One such checkpoint, each time with another of its bits turned. Bytes that are not UTF-8 any more are read with
 * replacement characters in their place.
 */
export const flippedNoteCases = (
  tree: LoggedTree,
  random: () => number,
  count: number,
): ReadonlyArray<NoteCase> => {
  const head = anyHead(tree, random);
  const bytes = new TextEncoder().encode(signedCheckpoint(head, log, witnesses));
  return Array.from({ length: count }, () => {
    const other = withFlippedBit(bytes, Math.floor(random() * bytes.length * 8));
    const note = new TextDecoder("utf-8", { ignoreBOM: true }).decode(other);
    return caseOf(checkpointText(head), note);
  });
};
