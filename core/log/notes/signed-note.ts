import { decodeBase64, encodeBase64 } from "../../domain/encoding/base64.ts";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Parsed } from "../parsed.ts";
import { isKeyName } from "./verifier-key.ts";

/** One signature line of a note: whose it is, and what follows the id in it. */
export type NoteSignature = {
  readonly name: string;
  /** Eight lower-case hex digits. */
  readonly id: string;
  readonly signature: Uint8Array;
};

/** A text and its signatures (C2SP signed-note). Parsing verifies nothing. */
export type SignedNote = {
  /** Ends with a newline, which is signed too. */
  readonly text: string;
  readonly signatures: ReadonlyArray<NoteSignature>;
};

/** The longest note that is read, in characters: 16 signatures of 5,000 bytes fit, and must. */
export const MAX_NOTE_LENGTH = 262_144;
/** The most signatures of a note that is read. */
export const MAX_SIGNATURES = 100;

const ID_LENGTH = 4;

/** The lines of signatures, each with its newline. */
export const printSignatures = (signatures: ReadonlyArray<NoteSignature>): string =>
  signatures
    .map(({ name, id, signature }) => {
      const blob = encodeBase64(Uint8Array.of(...hexToBytes(id), ...signature));
      return `— ${name} ${blob}\n`;
    })
    .join("");

/** A note as text. */
export const printSignedNote = ({ text, signatures }: SignedNote): string =>
  `${text}\n${printSignatures(signatures)}`;

const signatureOf = (line: string): NoteSignature | undefined => {
  const [, name = "", blob = ""] = /^— ([^ ]+) ([^ ]+)$/.exec(line) ?? [];
  const bytes = decodeBase64(blob);
  if (!isKeyName(name) || bytes === undefined || bytes.length <= ID_LENGTH) return undefined;
  return {
    name,
    id: bytesToHex(bytes.slice(0, ID_LENGTH)),
    signature: bytes.slice(ID_LENGTH),
  };
};

/** The signatures of 1 to 100 lines, each with its newline, or what is wrong with them. */
export const parseSignatures = (text: string): Parsed<ReadonlyArray<NoteSignature>> => {
  const lines = text.split("\n");
  if (text.length > MAX_NOTE_LENGTH || lines.length > MAX_SIGNATURES + 1)
    return { fault: "too many signatures" };
  if (lines.pop() !== "" || lines.length === 0)
    return { fault: "the signatures do not end with a newline" };
  const signatures = lines.map(signatureOf);
  return signatures.every((each) => each !== undefined)
    ? { value: signatures }
    : { fault: "a line is no signature line" };
};

/** Whether a text is UTF-8 without the control characters below U+0020 other than newline. */
const isPlainText = (text: string): boolean =>
  text.isWellFormed() && !/[^\P{Cc}\n\u{7f}-\u{9f}]/u.test(text);

/** The note of a text, or what is wrong with it. The last empty line separates what is signed from the signatures. */
export const parseSignedNote = (note: string): Parsed<SignedNote> => {
  if (note.length > MAX_NOTE_LENGTH) return { fault: "the note is too long" };
  if (!isPlainText(note)) return { fault: "the note has control characters or is not UTF-8" };
  const at = note.lastIndexOf("\n\n");
  if (at === -1) return { fault: "the note has no empty line" };
  const signatures = parseSignatures(note.slice(at + 2));
  if ("fault" in signatures) return signatures;
  return { value: { text: note.slice(0, at + 1), signatures: signatures.value } };
};
