import { encodeBase64 } from "../../domain/encoding/base64.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { printVerifierKey, type VerifierKey } from "../../log/notes/verifier-key.ts";
import { verifyNote } from "../../log/notes/verify-note.ts";
import { printHash } from "../../log/text-values.ts";
import { type Tile, tilePath, tilesOfRanges, tileSource } from "../../log/tiles/tile-path.ts";
import { hashOfRange } from "../../log/tree/subtree.ts";
import { isSameHash } from "../../log/tree/tree-hash.ts";
import { consistencyPath, consistencyProof } from "../../log/tree/tree-proofs.ts";
import { trustedLogsOf } from "./trusted-logs.ts";
import {
  FRAUD_VERSION,
  type FraudConsistency,
  type FraudFile,
  verifyFraud,
} from "./verify-fraud.ts";

/** A checkpoint that a log of a trust policy signed. */
type SignedNote = {
  readonly text: string;
  readonly checkpoint: Checkpoint;
  readonly keys: ReadonlyArray<VerifierKey>;
};

/** What evidence of fraud may be made of. */
export type FraudInputs = {
  /** Signed notes. Those that no log of the trust policy signed are passed over. */
  readonly checkpoints: ReadonlyArray<string>;
  /** Custody config accounts as nodes showed them. */
  readonly accounts: ReadonlyArray<Pick<LedgerAccount, "owner" | "data">>;
  /** Tiles of hashes of a log, by their paths below its prefix; empty for none. */
  readonly tiles: ReadonlyMap<string, Uint8Array>;
};

const signedNotes = (
  checkpoints: ReadonlyArray<string>,
  trust: TrustPolicy,
): ReadonlyArray<SignedNote> => {
  const trusted = trustedLogsOf(trust);
  const logs = "value" in trusted ? (trusted.value?.logs.logs ?? []) : [];
  return [...new Set(checkpoints)].flatMap((text) => {
    const parsed = parseCheckpoint(text);
    if ("fault" in parsed) return [];
    const { checkpoint, note } = parsed.value;
    const known = logs.map(({ key }) => key).filter(({ name }) => name === checkpoint.origin);
    const verified = verifyNote(note, known);
    if ("fault" in verified) return [];
    return [{ text, checkpoint, keys: [...new Set(verified.value.map(({ key }) => key))] }];
  });
};

/** The tiles that show which root the tree of a checkpoint has at a smaller size, and that it begins with that. */
const tilesBetween = (smaller: number, { size }: Checkpoint): ReadonlyArray<Tile> =>
  tilesOfRanges([{ from: 0, to: smaller }, ...consistencyPath(smaller, size)], size);

type Pair = readonly [smaller: SignedNote, larger: SignedNote];

/** Pairs of checkpoints of one log, of which the second is larger. */
const growing = (notes: ReadonlyArray<SignedNote>): ReadonlyArray<Pair> =>
  notes.flatMap((a) =>
    notes
      .filter((b) => a.checkpoint.origin === b.checkpoint.origin)
      .filter((b) => a.checkpoint.size > 0 && a.checkpoint.size < b.checkpoint.size)
      .map((b): Pair => [a, b]),
  );

/** The paths of the tiles by which a log can show that checkpoints of different sizes contradict each other. */
export const fraudTiles = (
  checkpoints: ReadonlyArray<string>,
  trust: TrustPolicy,
): ReadonlyArray<string> => {
  const pairs = growing(signedNotes(checkpoints, trust));
  const tiles = pairs.flatMap(([a, b]) => tilesBetween(a.checkpoint.size, b.checkpoint));
  return [...new Set(tiles.map(tilePath))];
};

const consistencyOf = ([a, b]: Pair, tiles: FraudInputs["tiles"]): FraudConsistency | null => {
  const { size } = a.checkpoint;
  const wanted = tilesBetween(size, b.checkpoint);
  if (wanted.some((tile) => tiles.get(tilePath(tile))?.length !== tile.width * 32)) return null;
  const source = tileSource(
    b.checkpoint.size,
    (tile) => tiles.get(tilePath(tile)) ?? new Uint8Array(),
  );
  return {
    root: printHash(hashOfRange({ from: 0, to: size }, source)),
    proof: consistencyProof(size, b.checkpoint.size, source).map(printHash),
  };
};

/** A file of signed notes, in their order. */
const fileOf = (
  kind: FraudFile["kind"],
  signed: ReadonlyArray<SignedNote>,
  more: Partial<FraudFile> = {},
): FraudFile => ({
  version: FRAUD_VERSION,
  kind,
  log_keys: [...new Set(signed.flatMap(({ keys }) => keys.map(printVerifierKey)))],
  checkpoints: signed.map(({ text }) => text),
  ledger: null,
  consistency: null,
  ...more,
});

/**
 * The file of evidence that a log's checkpoints convict it under a trust policy, by each other, by an account or by
 * tiles; null where they do not. See docs/verify-evidence.md, "Evidence of a lie".
 */
export const makeFraud = (inputs: FraudInputs, trust: TrustPolicy): FraudFile | null => {
  const notes = signedNotes(inputs.checkpoints, trust);
  const isVerified = (file: FraudFile): boolean =>
    verifyFraud(JSON.stringify(file), trust).verdict === "verified";
  for (const [at, a] of notes.entries())
    for (const b of notes.slice(at + 1)) {
      const [one, other] = [a.checkpoint, b.checkpoint];
      if (one.size !== other.size || isSameHash(one.root, other.root)) continue;
      const file = fileOf("two_roots", [a, b]);
      if (isVerified(file)) return file;
    }
  const pairs = growing(notes);
  for (const [a, b] of pairs.filter(([{ checkpoint }]) => checkpoint.isLast)) {
    const file = fileOf("after_its_end", [a, b]);
    if (isVerified(file)) return file;
  }
  for (const note of notes)
    for (const { owner, data } of inputs.accounts) {
      const ledger = {
        custody_program: owner,
        attestor_program: trust.attestorProgram,
        data_base64: encodeBase64(data),
      };
      const file = fileOf("not_the_ledgers_root", [note], { ledger });
      if (isVerified(file)) return file;
    }
  for (const pair of pairs) {
    const consistency = consistencyOf(pair, inputs.tiles);
    if (consistency === null) continue;
    const file = fileOf("not_consistent", pair, { consistency });
    if (isVerified(file)) return file;
  }
  return null;
};
