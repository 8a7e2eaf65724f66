import { type Checkpoint, checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../core/log/checkpoint/log-origin.ts";
import { printTlogProof } from "../../../core/log/checkpoint/tlog-proof.ts";
import { leavesOfEscrow } from "../../../core/log/leaf/escrow-leaves.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { cosignatureMessage, cosignatureOf } from "../../../core/log/notes/cosignature.ts";
import { type NoteSignature, printSignedNote } from "../../../core/log/notes/signed-note.ts";
import { noteMessage } from "../../../core/log/notes/verify-note.ts";
import {
  type KeyUse,
  printVerifierKey,
  verifierKey,
} from "../../../core/log/notes/verifier-key.ts";
import { inclusionProof } from "../../../core/log/tree/tree-proofs.ts";
import { type HashSource, rootAt } from "../../../core/log/tree/subtree.ts";
import { parseTilePath, TILE_WIDTH } from "../../../core/log/tiles/tile-path.ts";
import { leafHash, nodeHash } from "../../../core/log/tree/tree-hash.ts";
import { address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import type { EvidenceNetwork } from "../../../core/protocol/evidence/evidence-data.ts";
import type { LogProof } from "../../../core/use-cases/log/serving/read-log.ts";
import { ed25519Key, NETWORK } from "../../arbitraries/evidence.ts";

/** A key that signs notes, from a seed of 32 equal bytes. */
export const noteKey = (name: string, use: KeyUse, seedByte: number) => {
  const { publicKey, sign } = ed25519Key(seedByte);
  return { key: verifierKey(name, use, publicKey), sign };
};
export type NoteKey = ReturnType<typeof noteKey>;

/** The origin of the log of a network. */
export const originOf = (network: EvidenceNetwork, generation = 0): string =>
  printLogOrigin({
    name: "evidence.example.com",
    networkId: networkIdOf(networkLeaf(address(network.genesisHash), network.custodyProgram)),
    generation,
  });

/** The log of the vectors' network, and three witnesses. */
export const LOG_KEY = noteKey(originOf(NETWORK), "ed25519", 20);
export const WITNESSES = [
  noteKey("alpha.example/w", "cosignature", 21),
  noteKey("beta.example/w", "cosignature", 22),
  noteKey("gamma.example/w", "cosignature", 23),
] as const;

/** The first cosignature's time, 2026-08-01T00:00:00Z; each further one is a second later. */
const FIRST_TIME = 1_785_542_400n;

/** The policy's lines with a group and a quorum line of one's own, each left out where it is empty. */
export const logPolicyText = (
  quorum = "quorum q",
  group = "group q 2 alpha beta gamma",
  logs: ReadonlyArray<NoteKey> = [LOG_KEY],
  witnesses: ReadonlyArray<NoteKey> = WITNESSES,
): string =>
  [
    "# logs and witnesses of the vectors",
    ...logs.map(({ key }) => `log ${printVerifierKey(key)} https://evidence.example.com/log`),
    ...witnesses.map(
      ({ key }, i) => `witness ${["alpha", "beta", "gamma"][i]} ${printVerifierKey(key)}`,
    ),
    ...(group === "" ? [] : [group]),
    ...(quorum === "" ? [] : [quorum]),
    "",
  ].join("\n");

/** An ML-DSA-44 key of 1,312 equal bytes as a verifier key. Nothing here verifies under it. */
export const mlDsaKey = (name: string, byte: number): string =>
  printVerifierKey(verifierKey(name, "ml-dsa-44", new Uint8Array(1312).fill(byte)));

/** A tree of leaves by number, with other leaves of 66 bytes between them. */
export const treeOf = (size: number, leaves: ReadonlyMap<bigint, Uint8Array>) => {
  const hashes = Array.from({ length: size }, (_, i) =>
    leafHash(leaves.get(BigInt(i)) ?? new Uint8Array(66).fill(i % 256)),
  );
  const source: HashSource = ({ level, index }) => {
    if (level === 0) return hashes[index] ?? new Uint8Array();
    const half = { level: level - 1, index: index * 2 };
    return nodeHash(source(half), source({ ...half, index: index * 2 + 1 }));
  };
  return {
    size,
    root: rootAt(size, source),
    source,
  };
};
export type Tree = ReturnType<typeof treeOf>;

/** The bytes of a tile of a tree, by its path below the log's prefix; undefined for a path of no tile of hashes. */
export const tileBytes = (tree: Tree, path: string): Uint8Array | undefined => {
  const tile = parseTilePath(path);
  if (tile === undefined || tile.level === "entries") return undefined;
  const { level, index, width } = tile;
  const first = index * TILE_WIDTH;
  if ((first + width) * TILE_WIDTH ** level > tree.size) return undefined;
  const hashes = Array.from({ length: width }, (_, i) =>
    tree.source({ level: level * 8, index: first + i }),
  );
  return new Uint8Array(Buffer.concat(hashes));
};

/** The leaves of an escrow's events and leaf 0, by number. */
export const leavesWith = (
  escrow: Escrow,
  network: EvidenceNetwork = NETWORK,
): ReadonlyMap<bigint, Uint8Array> =>
  new Map([
    [0n, networkLeaf(address(network.genesisHash), network.custodyProgram)],
    ...leavesOfEscrow(escrow, encodeEscrowAccount(escrow)).map(
      ({ seq, leaf }) => [seq, leaf] as const,
    ),
  ]);

/** A log's signature line under a text. */
export const logLine = ({ key, sign }: NoteKey, text: string): NoteSignature => ({
  name: key.name,
  id: key.id,
  signature: sign(noteMessage(text)),
});

/** A witness' line under a text. */
export const witnessLine = ({ key, sign }: NoteKey, text: string, time = FIRST_TIME) =>
  cosignatureOf(key, time, sign(cosignatureMessage(text, time)));

/** A signed note of a checkpoint, cosigned by witnesses one second after another. */
export const checkpointNote = (
  checkpoint: Checkpoint,
  witnesses: ReadonlyArray<NoteKey>,
  log: NoteKey = LOG_KEY,
): string => {
  const text = checkpointText(checkpoint);
  return printSignedNote({
    text,
    signatures: [
      logLine(log, text),
      ...witnesses.map((witness, i) => witnessLine(witness, text, FIRST_TIME + BigInt(i))),
    ],
  });
};

/** What makes a proof other than the true one. */
export type ProofChange = {
  readonly origin?: string;
  readonly log?: NoteKey;
  readonly size?: number;
  readonly index?: number;
  readonly witnesses?: ReadonlyArray<NoteKey>;
  readonly leaves?: ReadonlyMap<bigint, Uint8Array>;
  readonly note?: (note: string, checkpoint: Checkpoint) => string;
  readonly path?: (path: ReadonlyArray<Uint8Array>) => ReadonlyArray<Uint8Array>;
};

/** The proof of an escrow's last event in a log of 300 leaves by default, cosigned by the first two witnesses. */
export const logProofOf = (escrow: Escrow, change: ProofChange = {}): LogProof => {
  const {
    origin = originOf(NETWORK),
    log = LOG_KEY,
    size = 300,
    witnesses = WITNESSES.slice(0, 2),
    leaves = leavesWith(escrow),
  } = change;
  const tree = treeOf(size, leaves);
  const index = change.index ?? Number(escrow.settledSeq ?? escrow.createdSeq);
  const checkpoint = { origin, size, root: tree.root };
  const note = checkpointNote(checkpoint, witnesses, log);
  const path = inclusionProof(index, size, tree.source);
  const proof = printTlogProof({
    index,
    proof: change.path?.(path) ?? path,
    checkpoint: change.note?.(note, checkpoint) ?? note,
  });
  return { origin, index, proof };
};
