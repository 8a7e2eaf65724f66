import type { Parsed } from "../parsed.ts";
import { MAX_NOTE_LENGTH } from "../notes/signed-note.ts";
import { parseHashes, parseWhole, printHash } from "../text-values.ts";

/** That a log holds a leaf, offline: the leaf's index, its inclusion proof and a checkpoint (C2SP tlog-proof). */
export type TlogProof = {
  readonly index: number;
  /** The leaf's sibling first, 32 bytes each, at most 63. */
  readonly proof: ReadonlyArray<Uint8Array>;
  /** The signed note, verbatim. */
  readonly checkpoint: string;
};

const FIRST_LINE = "c2sp.org/tlog-proof@v1";

/** The longest proof that is read, in characters: the longest note, and 63 hashes with room to spare. */
const MAX_PROOF_LENGTH = MAX_NOTE_LENGTH + 4096;

/** A proof as text, without `extra`. */
export const printTlogProof = ({ index, proof, checkpoint }: TlogProof): string =>
  [FIRST_LINE, `index ${index}`, ...proof.map(printHash), "", checkpoint].join("\n");

/**
 * The proof of a text, or what is wrong with it. The checkpoint in it is not read yet. A proof with an `extra` line is
 * refused: nothing would vouch for what it says.
 */
export const parseTlogProof = (text: string): Parsed<TlogProof> => {
  if (text.length > MAX_PROOF_LENGTH) return { fault: "the proof is too long" };
  const at = text.indexOf("\n\n");
  if (at === -1) return { fault: "the proof has no empty line before its checkpoint" };
  const [first, second = "", ...hashes] = text.slice(0, at).split("\n");
  if (first !== FIRST_LINE) return { fault: `the first line is not ${FIRST_LINE}` };
  if (second.startsWith("extra ")) return { fault: "the proof has an extra line" };
  const index = second.startsWith("index ") ? parseWhole(second.slice(6)) : undefined;
  if (index === undefined) return { fault: "the index line is not `index` and a number" };
  const proof = parseHashes(hashes);
  if (proof === undefined)
    return { fault: "the proof's lines are not at most 63 hashes in base64" };
  return { value: { index, proof, checkpoint: text.slice(at + 2) } };
};
