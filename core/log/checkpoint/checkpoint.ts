import type { Parsed } from "../parsed.ts";
import { isKeyName } from "../notes/verifier-key.ts";
import { parseSignedNote, type SignedNote } from "../notes/signed-note.ts";
import { parseHash, parseWhole, printHash } from "../text-values.ts";
import type { TreeHead } from "../tree/tree-edge.ts";

/** What a log states of itself: its origin, and size and root of its tree (C2SP tlog-checkpoint). */
export type Checkpoint = TreeHead & {
  readonly origin: string;
  /** There in the last checkpoint of a log that its operator ended. It signs no other one from then on. */
  readonly isLast?: true;
};

/** The extension line of a log's last checkpoint (docs/log.md, "The end of a log"). */
const END_LINE = "settlement-evidence log ended";

/**
 * The text that a log signs: origin, size and root, a line each, and in the last checkpoint the line that says so.
 * @throws RangeError for an origin that cannot be the name of the log's key.
 */
export const checkpointText = ({ origin, size, root, isLast }: Checkpoint): string => {
  if (!isKeyName(origin)) throw new RangeError(`${JSON.stringify(origin)} is no log's origin`);
  return `${origin}\n${size}\n${printHash(root)}\n${isLast ? `${END_LINE}\n` : ""}`;
};

/**
 * The checkpoint of a note's text, or what is wrong with it. Extension lines other than that of the last checkpoint are
 * refused: no witness vouches for them, and these logs have none.
 */
export const parseCheckpointText = (text: string): Parsed<Checkpoint> => {
  const [origin = "", size = "", root = "", ...more] = text.split("\n");
  const isLast = more.length === 2 && more[0] === END_LINE;
  if (more.at(-1) !== "" || more.length > (isLast ? 2 : 1))
    return { fault: "a checkpoint has three lines: origin, size and root" };
  if (!isKeyName(origin)) return { fault: "the origin is empty or has spaces or a plus" };
  const leaves = parseWhole(size);
  if (leaves === undefined) return { fault: "the size is not a number up to 2^53 - 1" };
  const hash = parseHash(root);
  if (hash === undefined) return { fault: "the root is not 32 bytes in base64" };
  return { value: { origin, size: leaves, root: hash, ...(isLast ? { isLast } : {}) } };
};

/** The checkpoint of a signed note, and the note, or what is wrong with it. No signature is verified. */
export const parseCheckpoint = (
  text: string,
): Parsed<{ readonly checkpoint: Checkpoint; readonly note: SignedNote }> => {
  const note = parseSignedNote(text);
  if ("fault" in note) return note;
  const checkpoint = parseCheckpointText(note.value.text);
  if ("fault" in checkpoint) return checkpoint;
  return { value: { checkpoint: checkpoint.value, note: note.value } };
};
