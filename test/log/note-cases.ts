import { parseSignedNote, printSignedNote } from "../../core/log/notes/signed-note.ts";
import { verifyNote } from "../../core/log/notes/verify-note.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { type Checkpoint, checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { withFlippedBit } from "../core/log/support/reference-tree.ts";
import { cosigned, signatureOf, testKey } from "../core/log/support/test-signer.ts";
import type { Question } from "./go-oracle.ts";
import type { LoggedTree } from "./logged-tree.ts";

const ORIGIN = "example.com/log/0123456789abcdef/0";
/** A log's key and its next one, both of which sign while keys are rotated. */
const logs = [1, 4].map((seed) => testKey(ORIGIN, "ed25519", seed));
const witnesses = [2, 3].map((seed) => testKey(`w${seed}.example/é`, "cosignature", seed));
const keys = [...logs, ...witnesses].map(({ key }) => key);

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

/** A head of a random size; every second one is the last of its log, which a fourth line says. */
const anyHead = (tree: LoggedTree, random: () => number): Checkpoint => {
  const head = { ...tree.headAt(1 + Math.floor(random() * tree.size)), origin: ORIGIN };
  return random() < 0.5 ? head : { ...head, isLast: true };
};

const signedByAll = (head: Checkpoint): string => {
  const text = checkpointText(head);
  return printSignedNote({
    text,
    signatures: [
      ...logs.map((log) => signatureOf(log, text)),
      ...witnesses.map((witness, at) => cosigned(witness, text, BigInt(1000 + at))),
    ],
  });
};

/** Checkpoints of random sizes, signed by a log's two keys and cosigned by two witnesses. */
export const noteCases = (
  tree: LoggedTree,
  random: () => number,
  count: number,
): ReadonlyArray<NoteCase> =>
  Array.from({ length: count }, () => {
    const head = anyHead(tree, random);
    return caseOf(checkpointText(head), signedByAll(head));
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
  const bytes = new TextEncoder().encode(signedByAll(head));
  return Array.from({ length: count }, () => {
    const other = withFlippedBit(bytes, Math.floor(random() * bytes.length * 8));
    const note = new TextDecoder("utf-8", { ignoreBOM: true }).decode(other);
    return caseOf(checkpointText(head), note);
  });
};
