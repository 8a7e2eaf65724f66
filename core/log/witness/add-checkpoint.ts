import type { Parsed } from "../parsed.ts";
import { MAX_NOTE_LENGTH } from "../notes/signed-note.ts";
import { parseHashes, parseWhole, printHash } from "../text-values.ts";

/** What a log sends to a witness (C2SP tlog-witness, "add-checkpoint"). */
export type AddCheckpoint = {
  /** The size that the witness cosigned last, as far as the log knows; 0 for none. */
  readonly oldSize: number;
  /** The consistency proof from that size, at most 63 hashes of 32 bytes. */
  readonly proof: ReadonlyArray<Uint8Array>;
  /** The signed note, verbatim. */
  readonly checkpoint: string;
};

/** The type of the answer that says which size the witness cosigned last. */
export const TLOG_SIZE_TYPE = "text/x.tlog.size";

/** The longest request that is read, in characters: the longest note, and 63 hashes with room to spare. */
export const MAX_ADD_CHECKPOINT_LENGTH = MAX_NOTE_LENGTH + 4096;

/** The body of a request. */
export const printAddCheckpoint = ({ oldSize, proof, checkpoint }: AddCheckpoint): string =>
  [`old ${oldSize}`, ...proof.map(printHash), "", checkpoint].join("\n");

/** The request of a body, or what is wrong with it. The checkpoint in it is not read yet. */
export const parseAddCheckpoint = (body: string): Parsed<AddCheckpoint> => {
  if (body.length > MAX_ADD_CHECKPOINT_LENGTH) return { fault: "the request is too long" };
  const at = body.indexOf("\n\n");
  if (at === -1) return { fault: "the request has no empty line before its checkpoint" };
  const [old = "", ...hashes] = body.slice(0, at).split("\n");
  const oldSize = old.startsWith("old ") ? parseWhole(old.slice(4)) : undefined;
  if (oldSize === undefined) return { fault: "the first line is not `old` and a number" };
  const proof = parseHashes(hashes);
  if (proof === undefined)
    return { fault: "the proof's lines are not at most 63 hashes in base64" };
  return { value: { oldSize, proof, checkpoint: body.slice(at + 2) } };
};

/** The body of a 409: the size that the witness cosigned last. */
export const printTlogSize = (size: number): string => `${size}\n`;

/** The size in the body of a 409; undefined for any other text. */
export const parseTlogSize = (body: string): number | undefined =>
  body.endsWith("\n") ? parseWhole(body.slice(0, -1)) : undefined;
